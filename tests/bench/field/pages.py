"""The pages of the field: healthy ones with what each must say, and what stands in the place of a page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path

import msgspec
from msgspec import Struct

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class FieldPage:
    """One address: what it answers, and the facts that whoever read it has; without facts it is no page.

    `app` is a path of the test site in place of a body of its own. `late` is the JSON that its script asks for.
    """

    name: str
    body: str = ""
    facts: tuple[str, ...] = ()
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    app: str = ""
    late: str = ""

    @property
    def healthy(self) -> bool:
        """Whether it is a page that a reader wants."""
        return bool(self.facts)


def _page(title: str, main: str, *, lang: str = "en", head: str = "", extra: str = "") -> str:
    links = "".join(f'<a href="/{name.lower()}">{name}</a> ' for name in ("Home", "News", "Guides", "Shop", "About"))
    return (
        f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>{escape(title)}</title>{head}</head>'
        f"<body><header><nav>{links}</nav></header><main>{main}</main>{extra}<footer><p>Imprint · Privacy · Terms"
        " · Newsletter</p></footer></body></html>"
    )


def _article(title: str, *paragraphs: str, **more: str) -> str:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return _page(title, f"<article><h1>{escape(title)}</h1>{text}</article>", **more)


def _bare(title: str, inner: str, *, lang: str = "en", head: str = "") -> str:
    return (
        f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>{escape(title)}</title>{head}</head>'
        f"<body>{inner}</body></html>"
    )


def _rows(count: int) -> str:
    cells = ((f"Mill {number}", f"{number * 37 % 911} m", f"{1850 + number % 90}") for number in range(1, count + 1))
    rows = "".join(f"<tr><td>{mill}</td><td>{length}</td><td>{year}</td></tr>" for mill, length, year in cells)
    return f"<table><thead><tr><th>Name</th><th>Length</th><th>Founded</th></tr></thead><tbody>{rows}</tbody></table>"


_VALLEY = """\
The upper valley was settled late, because its soil is thin and the winters are long. The first mills stood below the
falls, where the river drops nineteen metres in less than a mile.
--
Water was led to them in wooden channels that had to be mended every spring. The accounts of 1871 list 214 days of work
on the channels alone, paid in grain.
--
When the railway came, the mills lost their flour to the plains and turned to wool. Looms were carried up in parts, and
the last of them ran until the autumn of 1958.
--
Two buildings are left. One is a museum, open from May to October; in the other a cooperative of eleven weavers makes
blankets from the wool of the valley's own sheep.
"""
_RIVER = tuple(_VALLEY.split("--"))
_FORUM = (
    ("ada_k", "My bobbin winder squeaks since I oiled it. Did I use the wrong oil?"),
    ("tomas", "Sewing machine oil gums up at that speed. Clean it with spirit and use a drop of clock oil."),
    ("ada_k", "Clock oil did it, silent now. Thank you!"),
    ("mirela", "For the record: the bearing of the 1932 model wants grease, not oil."),
)
_DATA = json.dumps(
    {"@context": "https://schema.org", "@type": "Product", "name": "Boat shuttle 28 cm", "sku": "SH-28",
     "offers": {"@type": "Offer", "price": "34.50", "priceCurrency": "EUR"}}
)  # fmt: skip
_LATE = "fetch('late.json').then(r=>r.json()).then(d=>{document.querySelector('main').innerHTML=d.html})"

HEALTHY: tuple[FieldPage, ...] = (
    FieldPage("article", _article("The mills of the upper valley", *_RIVER), ("nineteen metres", "214 days", "eleven")),
    FieldPage(
        "short notice",
        _article("Office closed on Friday", "The office stays closed on Friday, 14 March. Mail is answered on Monday."),
        ("14 March", "answered on Monday"),
    ),
    FieldPage(
        "article about error pages",
        _article(
            "What a good 404 page says",
            "“Page not found” tells a visitor nothing that they do not see. A page that helps offers a search and the "
            "three pages most people were looking for.",
            "We changed ours in June: 31 of 100 visitors went on to another page, where before it were 9.",
            "Keep the status 404, whatever the page says: a machine reads nothing else. “Access denied” wants 403.",
        ),
        ("31 of 100", "where before it were 9"),
    ),
    FieldPage(
        "article about captchas",
        _article(
            "Twenty years of proving that you are human",
            "The first captchas showed bent letters. By 2014 machines read them better than us: 99.8 % against 87 %.",
            "“Verify you are human” became a box to tick, and what was measured was how the pointer moved towards it.",
            "Sites for blind readers suffered, and some went back to questions that only their visitors can answer.",
        ),
        ("99.8", "pointer moved"),
    ),
    FieldPage(
        "product",
        _page(
            "Boat shuttle 28 cm · Loom & Co",
            "<h1>Boat shuttle 28 cm</h1><p class=price>34,50 €</p><p>Turned from beech, with rollers of steel.</p>"
            "<dl><dt>Weight</dt><dd>112 g</dd><dt>Bobbin</dt><dd>up to 10.5 cm</dd></dl><button>Add to basket</button>",
            head=f'<script type="application/ld+json">{_DATA}</script>',
        ),
        ("34", "112 g", "10.5 cm"),
    ),
    FieldPage("table of 40 rows", _page("Mills", f"<h1>Mills</h1>{_rows(40)}"), ("111 m", "Mill 39")),
    FieldPage("table of 300 rows", _page("Mills", f"<h1>Mills</h1>{_rows(300)}"), ("111 m", "Mill 299")),
    FieldPage(
        "list of stories",
        _page(
            "News",
            "<h1>News</h1>"
            + "".join(
                f'<article><h2><a href="/news/{number}">Story {number} of the week</a></h2><p>Item {number * 7}.'
                "</p></article>"
                for number in range(1, 16)
            ),
        ),
        ("Story 1 of", "Story 15 of", "Item 105"),
    ),
    FieldPage(
        "forum thread",
        _page(
            "Squeaking bobbin winder",
            "<h1>Squeaking bobbin winder</h1>"
            + "".join(f'<div class="post"><b class="author">{who}</b><p>{said}</p></div>' for who, said in _FORUM),
        ),
        ("wrong oil", "clock oil", "wants grease"),
    ),
    FieldPage(
        "documentation",
        _page(
            "warp.toml",
            "<h1>warp.toml</h1><p>Each loom reads one file.</p><h2>Keys</h2><pre><code>[reed]\ndent = 12\nwidth_cm = 80"
            "</code></pre><p>Without <code>width_cm</code> the loom takes 60.</p>",
        ),
        ("dent = 12", "the loom takes 60"),
    ),
    FieldPage(
        "German article",
        _article(
            "Die Weberei am Fluss",
            "Im Frühjahr 1884 brannte die Weberei bis auf die Grundmauern nieder; nur die Färberei blieb stehen.",
            "Den Wiederaufbau bezahlte die Gemeinde, und zwar in sieben Raten zu je 1.200 Talern.",
            lang="de",
        ),
        ("Grundmauern", "sieben Raten"),
    ),
    FieldPage(
        "Japanese article",
        _article(
            "織物の町",
            "この町の織物は、十七世紀の終わりに始まった。最初の工房は川沿いの三軒だけだった。",
            "現在は二十八の工房があり、毎年十月に市が開かれる。",
            lang="ja",
        ),
        ("三軒だけ", "二十八の工房"),
    ),
    FieldPage(
        "article behind a cookie banner",
        _article(
            "The mills of the upper valley",
            *_RIVER,
            extra='<div class="cookie-banner" role="dialog" style="position:fixed;bottom:0"><p>We use cookies to '
            "improve your visit.</p><button>Accept all</button><button>Reject</button></div>",
        ),
        ("nineteen metres", "eleven weavers"),
    ),
    FieldPage(
        "article on a site with a login in its header",
        _article(
            "Dyeing with walnut",
            "Green husks give the deepest brown; soak them for nine days and stir twice a day.",
            "Wool takes the colour without a mordant, linen needs 20 g of alum for each 100 g of yarn.",
            extra='<form action="/login"><label>User<input name=u></label><label>Password<input type=password name=p>'
            "</label><button>Log in</button></form>",
        ),
        ("nine days", "20 g of alum"),
    ),
    FieldPage(
        "page whose script asks for its text",
        _bare("Opening hours", f"<main>Loading…</main><script>{_LATE}</script>"),
        ("half past nine", "closed on 24 June"),
        late='{"html": "<h1>Opening hours</h1><p>We open at half past nine and are closed on 24 June.</p>"}',
    ),
    FieldPage("React app", facts=("Madder red", "Weld yellow"), app="react"),
    FieldPage("Vue app", facts=("Madder red", "Weld yellow"), app="vue"),
    FieldPage("Svelte app", facts=("Madder red", "Weld yellow"), app="svelte"),
    FieldPage("Angular app", facts=("Madder red", "Weld yellow"), app="angular"),
)


class _StandIn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of stand_ins.toml."""

    name: str
    title: str
    main: str
    lang: str = "en"
    head: str = ""
    extra: str = ""
    chrome: bool = False
    status: int = 200
    headers: dict[str, str] = {}

    def page(self) -> FieldPage:
        """Make the page."""
        if self.chrome:
            body = _page(self.title, self.main, lang=self.lang, head=self.head, extra=self.extra)
        else:
            body = _bare(self.title, self.main, lang=self.lang, head=self.head)
        return FieldPage(self.name, body, status=self.status, headers=tuple(self.headers.items()))


class _StandIns(Struct, frozen=True, forbid_unknown_fields=True):
    page: tuple[_StandIn, ...]


_WRITTEN = msgspec.toml.decode(Path(__file__).with_name("stand_ins.toml").read_bytes(), type=_StandIns)
STAND_INS: tuple[FieldPage, ...] = tuple(one.page() for one in _WRITTEN.page)
PAGES = (*HEALTHY, *STAND_INS)
