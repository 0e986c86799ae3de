"""The ways in which a page can have a browser ask for an address that nobody typed.

In each, @http is an address over HTTP, @https the same over TLS, @host its host and port; scripts of one page may hold
many addresses, so each lies in a block of its own. COMMON are those that every engine knows, MORE the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import quote

CODES = (301, 302, 303, 307, 308)
_TO = "/to?status={code}&url=@http/r"


def _asked(body: str, kind: str = "text/javascript") -> str:
    """Return the address of a file with this content."""
    return f"/asked?type={quote(kind)}&body={quote(body, safe='@/:()')}"


def _headed(head: str) -> str:
    """Return a frame whose page comes with this header."""
    return f'<iframe src="/asked?body=%3Cimg%20src=/x%3E&head={quote(head, safe="@/:")}"></iframe>'


_HTML: Mapping[str, str] = {
    "image": "<img src='@http/a.png'>",
    "image set": "<img srcset='@http/a.png 1x'><picture><source srcset='@http/b.png'><img></picture>",
    "image of svg": "<svg width=9 height=9><image href='@http/a.png' width=9 height=9 /><use href='@http/a.svg#a' />"
    "<filter id=f><feImage href='@http/b.png' /></filter><rect filter='url(#f)' width=9 height=9 /></svg>",
    "image of a form": "<input type=image src='@http/a.png'>",
    "background": "<table background='@http/a.png'><tr><td>x</table>",
    "script": "<script src='@http/a.js'></script><script async src='@http/b.js'></script>",
    "style": "<link rel=stylesheet href='@http/a.css'>",
    "style import": "<style>@import url('@http/a.css');</style>",
    "style url": "<p style=\"background:url('@http/a.png');cursor:url('@http/c.cur'),auto;"
    "list-style:url('@http/l.png');"
    "mask:url('@http/m.svg#m');border-image:url('@http/b.png')\">x</p>",
    "font": "<style>@font-face { font-family: f; src: url('@http/a.woff2') } p { font-family: f }</style>",
    "frame": "<iframe src='@http/'></iframe>",
    "frame of its own": "<iframe srcdoc=\"<img src='@http/a.png'>\"></iframe>",
    "frame of data": "<iframe src=\"data:text/html,<img src='@http/a.png'>\"></iframe>",
    "frame in a sandbox": "<iframe sandbox='allow-scripts' srcdoc=\"<script>fetch('@http/a')</script>\"></iframe>",
    "object": "<object data='@http/a.html' width=90 height=90></object><embed src='@http/b.html'>",
    "media": "<video src='@http/a.mp4' autoplay muted poster='@http/p.png'><track default src='@http/t.vtt'></video>"
    "<audio src='@http/a.mp3' autoplay></audio>",
    "refresh in a frame": _headed("Refresh: 0;url=@http/r"),
    "link header": _headed("Link: <@http/l.css>; rel=preload; as=style, <@http>; rel=preconnect"),
    "policy header": _headed("Content-Security-Policy: default-src 'none'; report-uri @http/r"),
    "reports": _headed('Reporting-Endpoints: default="@https/r"'),
    "errors": _headed('NEL: {"report_to":"n","max_age":9,"success_fraction":1}\r\n'
                      'Report-To: {"group":"n","max_age":9,"endpoints":[{"url":"@https/r"}]}'),
    "other service": _headed('Alt-Svc: h3="@host"; ma=9, h2="@host"; ma=9'),
    "manifest": "<link rel=manifest href='@http/m.json'><link rel=icon href='@http/i.ico'>"
    "<link rel=apple-touch-icon href='@http/t.png'>",
    "speculation": '<script type=speculationrules>{"prerender":[{"source":"list","urls":["@http/","@https/"]}]}'
    "</script>",
    "speculative fetch": '<script type=speculationrules>{"prefetch":[{"source":"list","urls":["@https/"],'
    '"requires":["anonymous-client-ip-when-cross-origin"],"eagerness":"immediate"}]}</script>',
    "fenced frame": "<fencedframe config='@https/'></fencedframe>",
    "attribution": "<img attributionsrc='@https/a' src='@https/b'><a attributionsrc='@https/c' href='/x'>x</a>",
    "transform": '<iframe src="' + _asked("<?xml-stylesheet type='text/xsl' href='@http/a.xsl'?><a/>", "text/xml")
    + '"></iframe>',
    "name": "<img src='http://localhost:@port'><script>fetch('http://0.0.0.0:@port/', {mode: 'no-cors'})</script>",
    **{
        f"link {rel}": f"<link rel='{rel.split()[0]}' {' '.join(rel.split()[1:])} href='@http/l'>"
        for rel in (
            "preconnect", "dns-prefetch", "prefetch", "prerender", "modulepreload", "search", "alternate", "next",
            "preload as=script", "preload as=style", "preload as=image", "preload as=font crossorigin",
            "preload as=fetch crossorigin", "preload as=document", "pingback", "import", "serviceworker",
            "compression-dictionary", "monetization", "payment", "privacy-policy",
        )
    },
}  # fmt: skip

_SCRIPTS: Mapping[str, str] = {
    "fetch": "fetch('@http/a', {mode: 'no-cors'})",
    "fetch by cors": "fetch('@http/a', {method: 'PUT', headers: {'x-a': 'b'}, body: 'c'})",
    "fetch that stays": "fetch('@http/a', {mode: 'no-cors', keepalive: true, method: 'POST', body: 'c'})",
    "fetch later": "self.fetchLater && fetchLater('@https/a', {activateAfter: 0})",
    "xhr": "{ const x = new XMLHttpRequest(); x.open('GET', '@http/a'); x.send() }",
    "xhr that waits": "{ const x = new XMLHttpRequest(); x.open('GET', '@http/a', false); try { x.send() } catch {} }",
    "https": "fetch('@https/a', {mode: 'no-cors'})",
    "beacon": "navigator.sendBeacon('@http/a', 'x')",
    "socket": "new WebSocket('ws://@host/a')",
    "secure socket": "new WebSocket('wss://@host/a')",
    "socket stream": "self.WebSocketStream && new WebSocketStream('ws://@host/a').opened.catch(() => 0)",
    "events": "new EventSource('@http/a')",
    "transport": "try { new WebTransport('@https/').ready.catch(() => 0) } catch {}",
    "image of a script": "new Image().src = '@http/a.png'; new Audio('@http/a.mp3').play().catch(() => 0)",
    "font of a script": "new FontFace('f', 'url(@http/a.woff2)').load().catch(() => 0)",
    "module": "import('@http/a.mjs').catch(() => 0)",
    "module of json": "import('@http/a.json', {with: {type: 'json'}}).catch(() => 0)",
    "worker": "new Worker(URL.createObjectURL(new Blob([`fetch('@http/a', {mode: 'no-cors'})`])))",
    "worker that imports": "new Worker(URL.createObjectURL(new Blob([`importScripts('@http/a.js')`])))",
    "worker with a socket": "new Worker(URL.createObjectURL(new Blob([`new WebSocket('ws://@host/a')`])))",
    "shared worker": "new SharedWorker("
    + repr(_asked("fetch('@http/a', {mode: 'no-cors'})").replace("'", "%27")) + ")",
    "service worker": "navigator.serviceWorker?.register("
    + repr(_asked("fetch('@https/a', {mode: 'no-cors'})").replace("'", "%27"))
    + ", {scope: '/a' + encodeURIComponent('@host')}).catch(() => 0)",
    "service worker that imports": "navigator.serviceWorker?.register("
    + repr(_asked("importScripts('@https/a.js')").replace("'", "%27"))
    + ", {scope: '/i' + encodeURIComponent('@host')}).catch(() => 0)",
    "worklet": "CSS.paintWorklet?.addModule('@https/a.js').catch(() => 0);"
    "new AudioContext().audioWorklet?.addModule('@https/b.js').catch(() => 0)",
    "form": "{ const f = document.createElement('form'), i = document.createElement('iframe'); i.name = 'n @host';"
    " f.action = '@http/'; f.target = i.name; f.method = 'post'; document.body.append(i, f); f.submit() }",
    "popup": "open('@http/'); open('@http/n', '', 'noopener')",
    "window": "{ const w = open('about:blank'); if (w) w.location = '@http/' }",
    "place of a frame": "{ const i = document.createElement('iframe'); document.body.append(i);"
    " i.contentWindow.location.replace('@http/') }",
    "ping": "{ const a = document.createElement('a'); a.href = '#x'; a.ping = '@http/p'; document.body.append(a);"
    " a.click() }",
    "download": "{ const a = document.createElement('a'); a.href = '@http/d.bin'; a.download = 'd';"
    " a.target = '_blank'; document.body.append(a); a.click() }",
    "streamed code": "WebAssembly.compileStreaming(fetch('@http/a.wasm')).catch(() => 0)",
    "written": "{ const i = document.createElement('iframe'); document.body.append(i);"
    " i.contentDocument.write(\"<img src='@http/a.png'>\") }",
    "transform of a script": "{ const x = self.XSLTProcessor && new XSLTProcessor(); if (x) try { x.importStylesheet("
    "new DOMParser().parseFromString(\"<x:stylesheet version='1.0' xmlns:x='http://www.w3.org/1999/XSL/Transform'>"
    "<x:import href='@http/a.xsl'/></x:stylesheet>\", 'text/xml')) } catch {} }",
    "peer over udp": "(async () => { const p = new RTCPeerConnection({iceServers: [{urls: 'stun:@host'},"
    " {urls: 'turn:@host', username: 'u', credential: 'c'}]}); p.createDataChannel('d');"
    " await p.setLocalDescription(await p.createOffer()) })()",
    "peer over tcp": "(async () => { const p = new RTCPeerConnection({iceServers: [{urls: ['turn:@host?transport=tcp',"
    " 'turns:@host'], username: 'u', credential: 'c'}]}); p.createDataChannel('d');"
    " await p.setLocalDescription(await p.createOffer()) })()",
    "peer that is told": "(async () => { const a = new RTCPeerConnection(), b = new RTCPeerConnection();"
    " a.createDataChannel('d'); await a.setLocalDescription(await a.createOffer());"
    " await b.setRemoteDescription(a.localDescription); await b.setLocalDescription(await b.createAnswer());"
    " await a.setRemoteDescription(b.localDescription); const [h, p] = ['@name', '@port'];"
    " for (const [kind, end] of [['udp', 'typ host'], ['tcp', 'typ host tcptype passive']])"
    " await a.addIceCandidate({sdpMid: '0', candidate: `candidate:1 1 ${kind} 2113937151 ${h} ${p} ${end}`}) })()"
    ".catch(() => 0)",
    "login by another": "navigator.credentials?.get({identity: {providers: [{configURL: '@https/fedcm.json',"
    " clientId: 'c'}]}}).catch(() => 0)",
    "payment": "try { new PaymentRequest([{supportedMethods: '@https/pay'}], {total: {label: 't', amount:"
    " {currency: 'EUR', value: '1'}}}).canMakePayment().catch(() => 0) } catch {}",
    "fetch in the background": "navigator.serviceWorker?.register("
    + repr(_asked("self.onactivate = e => e.waitUntil(clients.claim())").replace("'", "%27"))
    + ", {scope: '/'}).then(() => navigator.serviceWorker.ready)"
    ".then(r => r.backgroundFetch?.fetch('b @host', ['@https/a'])).catch(() => 0)",
    "auction": "try { navigator.joinAdInterestGroup?.({name: 'g', owner: '@https', biddingLogicURL: '@https/b.js',"
    " updateURL: '@https/u', lifetimeMs: 9e6}, 9)?.catch(() => 0) } catch {}",
    "shared storage": "try { self.sharedStorage?.createWorklet?.('@https/w.js')?.catch(() => 0) } catch {}",
    "push": "navigator.serviceWorker?.ready.then(r => r.pushManager.subscribe({userVisibleOnly: true,"
    " applicationServerKey: new Uint8Array(65).fill(4)})).catch(() => 0)",
}  # fmt: skip

_REDIRECTED: Mapping[str, str] = {
    f"{name} by {code}": html.replace("@to", _TO.format(code=code))
    for code in CODES
    for name, html in {
        "image": "<img src='@to'>",
        "script": "<script src='@to'></script>",
        "frame": "<iframe src='@to'></iframe>",
        "fetch": "<script>fetch('@to', {mode: 'no-cors', method: 'POST', body: 'x'})</script>",
        "worker": "<script>new Worker('@to')</script>",
        "beacon": "<script>navigator.sendBeacon('@to')</script>",
        "link": "<link rel=preload as=style href='@to'><link rel=prefetch href='@to'>",
    }.items()
}

WAYS: Mapping[str, str] = MappingProxyType(
    {**_HTML, **{name: f"<script>{code}</script>" for name, code in _SCRIPTS.items()}, **_REDIRECTED}
)

LEADING: Mapping[str, str] = MappingProxyType(
    {
        "location": "<script>location = '@http/'</script>",
        "location replaced": "<script>location.replace('@http/')</script>",
        "location in time": "<script>setTimeout(() => location.assign('@http/'), 50)</script>",
        "refresh": "<meta http-equiv=refresh content='0;url=@http/'>",
        "form": "<form id=g action='@http/'></form><script>g.submit()</script>",
        "form that posts": "<form id=g method=post action='@http/'><input name=a></form><script>g.submit()</script>",
        "link": "<a id=a href='@http/'>x</a><script>a.click()</script>",
        **{f"redirect by {code}": f"<script>location = '{_TO.format(code=code)}'</script>" for code in CODES},
    }
)
"""Ways in which the page itself goes there."""


EMBEDDINGS: Mapping[str, str] = MappingProxyType(
    {
        "image": "new Image().src = u",
        "script": "{ const s = document.createElement('script'); s.src = u; document.head.append(s) }",
        "frame": "{ const f = document.createElement('iframe'); f.src = u; document.body.append(f) }",
        "fetch": "fetch(u, {mode: 'no-cors'}).catch(() => 0)",
        "redirected fetch": "fetch('/to?url=' + encodeURIComponent(u), {mode: 'no-cors'}).catch(() => 0)",
        "request": "{ const x = new XMLHttpRequest(); x.open('GET', u); x.send() }",
        "socket": "new WebSocket(u.replace(/^http/, 'ws'))",
    }
)
"""What a script does with the address `u`, in the ordinary ways."""


def aimed(way: str, host: str, port: int) -> str:
    """Point a way at a host, which has brackets where it is an address of IPv6."""
    at = f"{host}:{port}"
    for word, value in (
        ("@https", f"https://{at}"),
        ("@http", f"http://{at}"),
        ("@host", at),
        ("@port", str(port)),
        ("@name", host.strip("[]")),
    ):
        way = way.replace(word, value)
    return way
