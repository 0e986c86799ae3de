// Writes pages that hang on one feature of a browser each: node features.mjs OUTPUT
//
// "gate.NAME" shows its article only when the feature works, "addition.NAME" has an article and adds a sentence then.
import fs from 'node:fs';
import path from 'node:path';
import { short } from './short.mjs';

const words = JSON.parse(fs.readFileSync(new URL('../../../tests/site/apps/words.json', import.meta.url)));

// Each calls open() when the feature has done what it should; `into` is an element of the page.
const features = {
  'plain-script': (open) => open(),
  'timer': (open) => setTimeout(open, 300),
  'timer-late': (open) => setTimeout(open, 1_500),
  'timer-chain': (open) => { let left = 10; const step = () => (left-- ? setTimeout(step, 40) : open()); step(); },
  'interval': (open) => { let left = 5; const id = setInterval(() => { if (!left--) { clearInterval(id); open(); } }, 60); },
  'frame': (open) => requestAnimationFrame(() => requestAnimationFrame(open)),
  'frames-many': (open) => { let left = 30; const step = () => (left-- ? requestAnimationFrame(step) : open()); step(); },
  'idle': (open) => requestIdleCallback(open),
  'microtask': (open) => queueMicrotask(open),
  'message-channel': (open) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = open; port2.postMessage(1); },
  'post-message': (open) => { addEventListener('message', open, { once: true }); postMessage('hello', '*'); },
  'broadcast': (open) => { const [one, other] = [new BroadcastChannel('x'), new BroadcastChannel('x')]; one.onmessage = open; other.postMessage(1); },
  'load-event': (open) => addEventListener('load', open),
  'ready-event': (open) => document.addEventListener('DOMContentLoaded', open),
  'visibility': (open) => { if (document.visibilityState === 'visible' && !document.hidden) open(); },
  'focus': (open) => { const field = document.createElement('input'); document.body.append(field); field.addEventListener('focus', open); field.focus(); },
  'webgl': (open) => { if (document.createElement('canvas').getContext('webgl')) open(); },
  'webgl2': (open) => { if (document.createElement('canvas').getContext('webgl2')) open(); },
  'canvas-2d': (open) => { const pen = document.createElement('canvas').getContext('2d'); pen.fillRect(0, 0, 5, 5); open(); },
  'canvas-pixels': (open) => { const pen = document.createElement('canvas').getContext('2d'); pen.fillStyle = '#f00'; pen.fillRect(0, 0, 5, 5); if (pen.getImageData(1, 1, 1, 1).data[0] === 255) open(); },
  'canvas-measure': (open) => { if (document.createElement('canvas').getContext('2d').measureText('weft and warp').width > 20) open(); },
  'canvas-data-url': (open) => { if (document.createElement('canvas').toDataURL().length > 30) open(); },
  'offscreen-canvas': (open) => { if (new OffscreenCanvas(10, 10).getContext('2d')) open(); },
  'web-socket': (open) => { new WebSocket(`ws://${location.host}/apps/api/socket`).onmessage = open; },
  'event-source': (open) => { const events = new EventSource('/apps/api/events'); events.onmessage = () => { events.close(); open(); }; },
  'service-worker': (open) => navigator.serviceWorker.register('/apps/service-worker/keeper.worker.js').then(open),
  'cache-storage': (open) => caches.open('x').then((cache) => cache.put('/x', new Response('y'))).then(open),
  'is-elements': (open, into) => { customElements.define('my-part', class extends HTMLDivElement { connectedCallback() { open(); } }, { extends: 'div' }); into.append(document.createElement('div', { is: 'my-part' })); },
  'custom-element': (open, into) => { customElements.define('own-part', class extends HTMLElement { connectedCallback() { open(); } }); into.append(document.createElement('own-part')); },
  'element-internals': (open, into) => { customElements.define('own-field', class extends HTMLElement { static formAssociated = true; #own = this.attachInternals(); connectedCallback() { this.#own.setFormValue('x'); open(); } }); into.append(document.createElement('own-field')); },
  'shadow-slot': (open, into) => { into.innerHTML = '<p>x</p>'; const root = into.attachShadow({ mode: 'open' }); const slot = document.createElement('slot'); slot.addEventListener('slotchange', () => { if (slot.assignedNodes().length) open(); }); root.append(slot); },
  'shadow-adopted': (open) => { const sheet = new CSSStyleSheet(); sheet.replaceSync('p { color: red }'); document.adoptedStyleSheets = [sheet]; if (document.adoptedStyleSheets.length) open(); },
  'xslt': (open) => { const parse = (text) => new DOMParser().parseFromString(text, 'text/xml'); const processor = new XSLTProcessor(); processor.importStylesheet(parse('<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><p><xsl:value-of select="a"/></p></xsl:template></xsl:stylesheet>')); if (processor.transformToFragment(parse('<a>x</a>'), document).textContent === 'x') open(); },
  'performance-navigation': (open) => new PerformanceObserver((_, observer) => { observer.disconnect(); open(); }).observe({ type: 'navigation', buffered: true }),
  'performance-paint': (open) => new PerformanceObserver((_, observer) => { observer.disconnect(); open(); }).observe({ type: 'paint', buffered: true }),
  'performance-mark': (open) => { new PerformanceObserver(open).observe({ entryTypes: ['mark'] }); performance.mark('x'); },
  'animation-end': (open, into) => { document.head.insertAdjacentHTML('beforeend', '<style>@keyframes k { to { opacity: .5 } } .k { animation: k .1s }</style>'); into.addEventListener('animationend', open); into.classList.add('k'); },
  'animation-iteration': (open, into) => { document.head.insertAdjacentHTML('beforeend', '<style>@keyframes k { to { opacity: .5 } } .k { animation: k .1s 3 }</style>'); into.onanimationstart = open; into.classList.add('k'); },
  'transition-end': (open, into) => { into.style.cssText = 'transition: opacity .1s; opacity: 1'; into.addEventListener('transitionend', open); setTimeout(() => { into.style.opacity = '.5'; }, 50); },
  'animation-api': (open, into) => into.animate([{ opacity: 0 }, { opacity: 1 }], 100).finished.then(open),
  'animation-onfinish': (open, into) => { into.animate({ opacity: [0, 1] }, { duration: 80 }).onfinish = open; },
  'view-transition': (open) => document.startViewTransition(open),
  'media-loaded': (open, into) => { into.innerHTML = '<video muted></video>'; const canvas = document.createElement('canvas'); canvas.getContext('2d').fillRect(0, 0, 5, 5); into.firstChild.addEventListener('loadedmetadata', open); into.firstChild.srcObject = canvas.captureStream(5); into.firstChild.play(); },
  'media-error': (open) => { const sound = new Audio('/apps/api/nothing.mp3'); sound.addEventListener('error', open); sound.load(); },
  'media-can-play': (open) => { if (document.createElement('video').canPlayType('video/webm')) open(); },
  'audio-context': (open) => { if (new AudioContext().createOscillator()) open(); },
  'image-load': (open) => { const image = new Image(); image.onload = open; image.src = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'; },
  'image-error': (open) => { const image = new Image(); image.onerror = open; image.src = '/apps/api/nothing.png'; },
  'image-size': (open) => { const image = new Image(); image.onload = () => { if (image.naturalWidth === 1) open(); }; image.src = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'; },
  'image-decode': (open) => { const image = new Image(); image.src = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'; image.decode().then(open); },
  'image-bitmap': (open) => createImageBitmap(new ImageData(2, 2)).then(open),
  'svg-box': (open, into) => { into.innerHTML = '<svg width="100" height="50"><text y="20">weft</text></svg>'; if (into.querySelector('text').getBBox().width > 5) open(); },
  'text-length': (open, into) => { into.innerHTML = '<svg><text y="20">weft</text></svg>'; if (into.querySelector('text').getComputedTextLength() > 5) open(); },
  'path-length': (open, into) => { into.innerHTML = '<svg><path d="M0 0L100 0"/></svg>'; if (into.querySelector('path').getTotalLength() === 100) open(); },
  'bounding-box': (open, into) => { into.innerHTML = '<p style="width:300px">A line</p>'; if (into.firstChild.getBoundingClientRect().width === 300) open(); },
  'offset-width': (open, into) => { into.innerHTML = '<p style="width:300px">A line</p>'; if (into.firstChild.offsetWidth === 300) open(); },
  'scroll-height': (open, into) => { into.innerHTML = '<div style="height:50px;overflow:auto"><div style="height:500px"></div></div>'; if (into.firstChild.scrollHeight > into.firstChild.clientHeight) open(); },
  'range-box': (open, into) => { into.textContent = 'A longer line of text'; const range = document.createRange(); range.selectNodeContents(into); if (range.getBoundingClientRect().width > 20) open(); },
  'element-from-point': (open, into) => { into.innerHTML = '<p style="position:fixed;inset:0">x</p>'; if (document.elementFromPoint(50, 50) === into.firstChild) open(); },
  'computed-style': (open, into) => { into.style.color = 'red'; if (getComputedStyle(into).color === 'rgb(255, 0, 0)') open(); },
  'computed-inherited': (open, into) => { document.head.insertAdjacentHTML('beforeend', '<style>main { font-size: 20px }</style>'); into.innerHTML = '<p style="width: 2em">x</p>'; if (getComputedStyle(into.firstChild).fontSize === '20px') open(); },
  'css-variable': (open) => { document.head.insertAdjacentHTML('beforeend', '<style>:root { --ready: yes }</style>'); if (getComputedStyle(document.documentElement).getPropertyValue('--ready').trim() === 'yes') open(); },
  'css-supports': (open) => { if (CSS.supports('display', 'grid')) open(); },
  'css-visible': (open, into) => { document.head.insertAdjacentHTML('beforeend', '<style>.ready { display: none }</style>'); into.className = 'ready'; if (getComputedStyle(into).display === 'none') { into.className = ''; open(); } },
  'check-visibility': (open, into) => { if (into.checkVisibility()) open(); },
  'hover-query': (open) => { if (matchMedia('(hover: hover)').matches) open(); },
  'pointer-query': (open) => { if (matchMedia('(pointer: fine)').matches) open(); },
  'width-query': (open) => { if (matchMedia('(min-width: 600px)').matches) open(); },
  'scheme-query': (open) => { if (matchMedia('(prefers-color-scheme: light)').matches) open(); },
  'worker': (open) => { new Worker(URL.createObjectURL(new Blob(['postMessage(1)']))).onmessage = open; },
  'worker-module': (open) => { const worker = new Worker(URL.createObjectURL(new Blob([`onmessage = async () => { const answer = await fetch("${location.origin}/apps/api/notes"); postMessage((await answer.json()).length) }`], { type: 'text/javascript' })), { type: 'module' }); worker.onmessage = open; worker.postMessage(1); },
  'shared-worker': (open) => { const worker = new SharedWorker(URL.createObjectURL(new Blob(['onconnect = ({ ports }) => ports[0].postMessage(1)']))); worker.port.onmessage = open; },
  'worker-transfer': (open) => { const worker = new Worker(URL.createObjectURL(new Blob(['onmessage = ({ data }) => postMessage(data, [data])']))); worker.onmessage = ({ data }) => { if (data.byteLength === 8) open(); }; const held = new ArrayBuffer(8); worker.postMessage(held, [held]); },
  'wasm': (open) => WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).then(open),
  'wasm-shared': (open) => { if (new WebAssembly.Memory({ initial: 1, maximum: 2 }).buffer.byteLength) open(); },
  'indexed-db': (open) => { indexedDB.open('x').onsuccess = open; },
  'local-storage': (open) => { localStorage.setItem('x', 'y'); if (localStorage.getItem('x') === 'y') open(); },
  'cookie': (open) => { document.cookie = 'x=y'; if (document.cookie.includes('x=y')) open(); },
  'cookie-store': (open) => cookieStore.set('x', 'y').then(open),
  'file-system': (open) => navigator.storage.getDirectory().then(open),
  'storage-estimate': (open) => navigator.storage.estimate().then(open),
  'locks': (open) => navigator.locks.request('x', open),
  'permissions': (open) => navigator.permissions.query({ name: 'geolocation' }).then(open),
  'web-crypto': (open) => crypto.subtle.digest('SHA-256', new Uint8Array(4)).then(open),
  'crypto-random': (open) => { if (crypto.randomUUID().length === 36) open(); },
  'streams': (open) => new Response(new ReadableStream({ start(held) { held.enqueue(new TextEncoder().encode('x')); held.close(); } })).text().then(open),
  'compression': (open) => new Response(new Blob(['weft']).stream().pipeThrough(new CompressionStream('gzip')).pipeThrough(new DecompressionStream('gzip'))).text().then((text) => text === 'weft' && open()),
  'fetch-stream': async (open) => { const reader = (await fetch('/apps/api/article')).body.getReader(); while (!(await reader.read()).done); open(); },
  'fetch-abort': (open) => { const stop = new AbortController(); fetch('/apps/api/article', { signal: stop.signal }).catch(open); stop.abort(); },
  'fetch-keepalive': (open) => fetch('/apps/api/notes', { keepalive: true, priority: 'high' }).then(open),
  'xhr': (open) => { const asked = new XMLHttpRequest(); asked.open('GET', '/apps/api/notes'); asked.responseType = 'json'; asked.onloadend = () => asked.response.length && open(); asked.send(); },
  'form-data': (open) => { const data = new FormData(); data.append('x', new Blob(['y'])); if (data.get('x').size === 1) open(); },
  'file-reader': (open) => { const reader = new FileReader(); reader.onload = open; reader.readAsDataURL(new Blob(['x'])); },
  'dialog': (open, into) => { into.innerHTML = '<dialog>x</dialog>'; into.firstChild.showModal(); if (into.firstChild.open) { into.firstChild.addEventListener('close', open); into.firstChild.close(); } },
  'popover': (open, into) => { into.innerHTML = '<div popover>x</div>'; into.firstChild.addEventListener('toggle', open); into.firstChild.showPopover(); },
  'details': (open, into) => { into.innerHTML = '<details><summary>x</summary>y</details>'; into.firstChild.addEventListener('toggle', open); into.firstChild.open = true; },
  'xpath': (open) => { if (document.evaluate('count(//h1)', document, null, XPathResult.NUMBER_TYPE).numberValue === 1) open(); },
  'selection': (open) => { const range = document.createRange(); range.selectNodeContents(document.querySelector('h1')); getSelection().addRange(range); if (getSelection().toString()) open(); },
  'selection-event': (open) => { document.addEventListener('selectionchange', open, { once: true }); getSelection().selectAllChildren(document.querySelector('h1')); },
  'inner-text': (open, into) => { into.innerHTML = '<p>a</p><p style="display:none">b</p>'; if (!into.innerText.includes('b')) open(); },
  'tree-walker': (open) => { if (document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT).nextNode()) open(); },
  'has-selector': (open) => { if (document.querySelector('body:has(h1)')) open(); },
  'font-ready': (open) => document.fonts.ready.then(open),
  'font-load': (open) => document.fonts.load('16px serif').then(open),
  'font-face': (open) => new FontFace('Own', 'url(/apps/api/nothing.woff2)').load().catch(open),
  'intl': (open) => { if (new Intl.NumberFormat('de', { style: 'currency', currency: 'EUR' }).format(1234.5).startsWith('1.234')) open(); },
  'intl-segmenter': (open) => { if ([...new Intl.Segmenter('en', { granularity: 'word' }).segment('a b')].length === 3) open(); },
  'url-pattern': (open) => { if (new URLPattern({ pathname: '/a/:b' }).test('https://x.example/a/c')) open(); },
  'navigation-api': (open) => { navigation.addEventListener('currententrychange', open); history.pushState(null, '', '#x'); },
  'hash-change': (open) => { addEventListener('hashchange', open); location.hash = 'x'; },
  'pop-state': (open) => { history.pushState(1, '', '#a'); history.pushState(2, '', '#b'); addEventListener('popstate', open); history.back(); },
  'intersection': (open, into) => { into.style.minHeight = '10px'; new IntersectionObserver((seen, observer) => { if (seen[0].isIntersecting) { observer.disconnect(); open(); } }).observe(into); },
  'intersection-far': (open, into) => { into.style.marginTop = '5000px'; new IntersectionObserver((seen) => { if (!seen[0].isIntersecting) open(); }).observe(into); },
  'resize-observer': (open, into) => new ResizeObserver((_, observer) => { observer.disconnect(); open(); }).observe(into),
  'resize-size': (open, into) => { into.style.width = '300px'; new ResizeObserver((seen, observer) => { observer.disconnect(); if (seen[0].contentRect.width === 300) open(); }).observe(into); },
  'mutation-observer': (open, into) => { new MutationObserver((_, observer) => { observer.disconnect(); open(); }).observe(into, { attributes: true }); into.title = 'x'; },
  'scroll-event': (open, into) => { into.style.height = '5000px'; addEventListener('scroll', () => { into.style.height = ''; open(); }, { once: true }); scrollTo(0, 100); },
  'scroll-end': (open, into) => { into.style.height = '5000px'; addEventListener('scrollend', () => { into.style.height = ''; open(); }, { once: true }); scrollTo(0, 100); },
  'notification': (open) => { if ('Notification' in globalThis) open(); },
  'speech': (open) => { if ('speechSynthesis' in globalThis) open(); },
  'rtc': (open) => { if (new RTCPeerConnection().createDataChannel('x')) open(); },
  'gamepad': (open) => { if (navigator.getGamepads().length >= 0) open(); },
  'clipboard': (open) => { if (document.queryCommandSupported('copy')) open(); },
  'user-agent': (open) => { if (/Chrome|Firefox|Safari/.test(navigator.userAgent)) open(); },
  'client-hints': (open) => { if (navigator.userAgentData.brands.length) open(); },
  'chrome-object': (open) => { if (globalThis.chrome) open(); },
  'plugins': (open) => { if (navigator.plugins.length && navigator.mimeTypes.length) open(); },
  'import-map': (open) => { document.head.insertAdjacentHTML('beforeend', ''); const map = Object.assign(document.createElement('script'), { type: 'importmap', textContent: '{"imports":{"way":"data:text/javascript,export default 1"}}' }); document.head.append(map); import('way').then(open); },
  'script-onload': (open) => { const script = Object.assign(document.createElement('script'), { src: 'data:text/javascript,window.x=1' }); script.onload = open; document.head.append(script); },
  'style-onload': (open) => { const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: 'data:text/css,p{}' }); link.onload = open; document.head.append(link); },
  'style-sheets': (open) => { document.head.insertAdjacentHTML('beforeend', '<style>p { color: red }</style>'); if (document.styleSheets[0].cssRules.length) open(); },
  'frame-load': (open, into) => { into.innerHTML = '<iframe src="/apps/frames/room.html"></iframe>'; into.firstChild.onload = () => { if (into.firstChild.contentDocument.querySelector('h2')) open(); }; },
  'frame-message': (open, into) => { addEventListener('message', open, { once: true }); into.innerHTML = '<iframe srcdoc="<script>parent.postMessage(1, \'*\')<\/script>"></iframe>'; },
  'object-load': (open, into) => { into.innerHTML = '<object data="/apps/frames/room.html" type="text/html"></object>'; into.firstChild.onload = open; },
  'drag-event': (open, into) => { into.addEventListener('dragstart', open); into.dispatchEvent(new DragEvent('dragstart')); },
  'pointer-event': (open, into) => { into.addEventListener('pointerdown', open); into.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true })); },
  'touch': (open) => { if (navigator.maxTouchPoints === 0 && !('ontouchstart' in globalThis)) open(); },
  'click': (open, into) => { into.addEventListener('click', open, { once: true }); into.click(); },
  'form-submit': (open, into) => { into.innerHTML = '<form><input required value="x"></form>'; into.firstChild.addEventListener('submit', (event) => { event.preventDefault(); open(); }); into.firstChild.requestSubmit(); },
  'form-validity': (open, into) => { into.innerHTML = '<input type="email" value="nobody">'; if (!into.firstChild.checkValidity()) open(); },
  'contenteditable': (open, into) => { into.innerHTML = '<p contenteditable>x</p>'; if (into.firstChild.isContentEditable) open(); },
  'exec-command': (open, into) => { into.innerHTML = '<p contenteditable>x</p>'; into.firstChild.focus(); if (document.execCommand('insertText', false, 'y') && into.textContent.includes('y')) open(); },
  'document-write': (open) => { if (typeof document.write === 'function') open(); },
  'structured-clone': (open) => { if (structuredClone({ at: new Date(0) }).at.getTime() === 0) open(); },
  'scheduler': (open) => scheduler.postTask(open),
  'weak-ref': (open) => { if (new WeakRef({}).deref()) open(); },
  'temporal-proposal': (open) => { if (Object.groupBy && Promise.withResolvers && Array.fromAsync) open(); },
  'trusted-types': (open) => { if (globalThis.trustedTypes) open(); },
  'sanitizer-set-html': (open, into) => { into.setHTMLUnsafe('<p>x</p>'); if (into.firstChild) open(); },
  'declarative-shadow': (open, into) => { into.setHTMLUnsafe('<div><template shadowrootmode="open"><p>x</p></template></div>'); if (into.firstChild.shadowRoot) open(); },
  'highlight-api': (open) => { CSS.highlights.set('x', new Highlight(new Range())); open(); },
  'anchor-query': (open) => { if (CSS.supports('anchor-name', '--x')) open(); },
  'unsupported-words': (open) => { if ('caches' in globalThis) open(); else document.querySelector('main').textContent = 'Please update your browser to read this page.'; },
};

const article = (lines) => lines.map((line) => `<p>${line}</p>`).join('');
const opener = {
  gate: `async () => { if (opened) return; opened = true; const lines = await (await fetch('/apps/api/article')).json(); document.querySelector('article').innerHTML = lines.map((line) => '<p>' + line + '</p>').join(''); }`,
  addition: `() => { if (opened) return; opened = true; document.querySelector('article').insertAdjacentHTML('beforeend', '<p>${words.article[0]}</p><p>${words.article[1]}</p>'); }`,
};
const already = { gate: '', addition: article([...words.threads.map(({ note }) => note)]) };

const page = (kind, name, run) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${name}</title></head>
<body><h1>A door</h1><main></main><article>${already[kind]}</article>
<script>
let opened = false;
const open = ${opener[kind]};
(${run})(() => void open(), document.querySelector('main'));
</script></body>
</html>
`;

const output = process.argv[2];
for (const [name, run] of Object.entries(features)) {
  for (const kind of ['gate', 'addition']) {
    const folder = path.join(output, `${kind}.${name}`);
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'index.html'), page(kind, name, run));
  }
}

for (const [name, [html, script]] of Object.entries(short)) {
  const folder = path.join(output, `short.${name}`);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'index.html'), `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${name}</title></head>
<body>${html}<script>${script}</script></body>
</html>
`);
}
