"""Makes up pages in the words that sites use: what stands in a page's place, and healthy pages that look like it.

The words are those of `wording/`, a file a language: heads, lines and buttons of each kind.
"""

from __future__ import annotations

# ruff: noqa: PLR2004 - chances
import html
import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from protocol.page import PageKind

_FOLDER = Path(__file__).parent / "wording"
_EACH = 60
_SMALL = 90
_ENGLISH = 0.4
_HEALTHY = "healthy_"
_PATHS = (
    "/news/bridge-reopens",
    "/shop/oak-table",
    "/2024/03/harvest",
    "/t/991",
    "/item?id=77",
    "/recipes/soup",
    "/p/12345",
)
_OWN_PATHS: Mapping[str, Sequence[str]] = {
    "healthy_offers": ("/subscribe", "/pricing", "/plans", "/membership", "/abo", "/offers"),
    "healthy_login": ("/login", "/signup", "/account/login", "/register", "/password/reset", "/anmelden", "/connexion"),
    "healthy_status": ("/status", "/", "/incidents", "/health"),
    "healthy_incident": ("/incidents/2024-11-03", "/blog/post-mortem", "/updates/outage"),
    "healthy_contact": ("/contact", "/kontakt", "/hours", "/find-us", "/about"),
    "healthy_small": ("/", "/", "/index.html", "/page", "/test", "/done", "/order/77"),
    "healthy_docs": ("/docs/errors", "/docs/api/rate-limits", "/help/maintenance", "/manual/auth.html"),
    "healthy_thread": ("/t/404-after-update", "/forum/viewtopic.php?t=88", "/questions/1182/access-denied"),
}
_TARGETS: Mapping[str, Sequence[str]] = {
    "paywall": ("/subscribe", "/abo", "/membership", "/checkout", "/plans/digital", "/offers", "/login", "/me/sign-in"),
    "login_wall": ("/login", "/sign-in", "/register", "/auth/email", "/signup", "/join"),
    "consent_wall": ("/subscribe", "/cookies", "/accept", "/settings"),
    "healthy_offers": ("/checkout", "/login", "/subscribe/year", "/buy"),
    "healthy_login": ("/register", "/password/reset", "/auth/sso", "/help"),
    "healthy_support": ("/subscribe", "/support", "/newsletter", "/login", "/gift"),
    "healthy_thread": ("/login", "/register", "/t/12", "/u/mira"),
}
"""Where the buttons of a kind lead, if they are links."""

_IN_FRONT = frozenset(
    {PageKind.PAYWALL, PageKind.LOGIN_WALL, PageKind.CONSENT_WALL, PageKind.AGE_GATE, PageKind.GEO_BLOCKED}
)
"""What stands before a page that is there: it often shows the title of the page, and more of the site around it."""

_BOXES = (
    *("modal", "gate", "overlay", "c-box c-box--center", "css-1x2y3z", "flex flex-col items-center", "panel", "wall"),
    *("message", "hero", "card", "notice", "content", "inner", "sc-aXZVg", ""),
)
_TAGS = ("h1", "h2", "h2", "h3", "p", "strong")
_LOGIN = "<form method=post><input type=email name=user><input type=password name=pass><button>OK</button></form>"
_BIRTH = "<form><input name=day><input name=month><input name=year></form>"


@dataclass(frozen=True)
class Wording:
    """The words of a kind in a language."""

    language: str
    heads: Sequence[str]
    lines: Sequence[str]
    buttons: Sequence[str]


class WordedPage(NamedTuple):
    """A page in words of a language: `kind` is None for a healthy one."""

    kind: PageKind | None
    language: str
    path: str
    source: str


@dataclass(frozen=True)
class Lender:
    """Lines of a healthy page: short ones for the chrome, long ones for titles and teasers."""

    short: Sequence[str]
    long: Sequence[str]


@cache
def wordings() -> Mapping[str, Sequence[Wording]]:
    """Return the words of every kind, English first."""
    files = sorted(_FOLDER.glob("*.toml"), key=lambda file: (file.stem != "en", file.stem))
    kinds: dict[str, list[Wording]] = {}
    for file in files:
        for kind, words in tomllib.loads(file.read_text("utf-8")).items():
            kinds.setdefault(kind, []).append(Wording(file.stem, words["heads"], words["lines"], words["buttons"]))
    return kinds


def worded(chance: random.Random, lenders: Sequence[Lender]) -> Iterator[tuple[WordedPage, int]]:
    """Yield made-up pages, each with the index of its lender."""
    for kind, words in wordings().items():
        for _ in range(_SMALL if kind == "healthy_small" else _EACH):
            wording = words[0] if chance.random() < _ENGLISH else chance.choice(words)
            at = chance.randrange(len(lenders))
            page = _Page(chance, kind, wording, lenders[at])
            if kind.startswith(_HEALTHY):
                made = WordedPage(None, wording.language, chance.choice(_OWN_PATHS.get(kind, _PATHS)), page.healthy())
            else:
                stand_in = PageKind(kind)
                made = WordedPage(stand_in, wording.language, chance.choice(_PATHS), page.stand_in())
            yield made, at


@dataclass
class _Page:
    """One page in the making."""

    chance: random.Random
    kind: str
    wording: Wording
    lender: Lender

    def __post_init__(self) -> None:
        self.site = self.chance.choice(self.lender.short)
        self.title = self._headline()

    def stand_in(self) -> str:
        """Write what stands in the place of a page, or before it."""
        kind = PageKind(self.kind)
        before = kind in _IN_FRONT and self.chance.random() < 0.7
        head = self._filled(self.chance.choice(self.wording.heads))
        parts = [f"<h1>{_e(self.title)}</h1>"] if before and self.chance.random() < 0.75 else []
        if before and self.chance.random() < (0.4 if kind is PageKind.PAYWALL else 0.15):
            parts.append(f"<p>{_e(self.chance.choice(self.lender.long)[: self.chance.choice((60, 120, 250))])}…</p>")
        parts.append(self._box(kind, head))
        if self.chance.random() < (0.4 if before else 0.15):
            parts.append(self._more())
        return self._whole(self.title if before else head, parts, chrome=self.chance.random() < 0.7)

    def healthy(self) -> str:
        """Write a healthy page of a kind that is easily mistaken."""
        kind = self.kind
        head = self._filled(self.chance.choice(self.wording.heads))
        lines = self._lines(self.chance.choice((2, 4, 6, 9)))
        prose = self.chance.sample(list(self.lender.long), min(len(self.lender.long), self.chance.randint(0, 3)))
        if kind == "healthy_small":
            lines = self._lines(self.chance.choice((0, 1, 1, 2, 3)))
        elif kind == "healthy_support":  # the end of an article
            head, lines = self.title, [*prose, *self.lender.long[:2], *lines[:2]]
        elif kind in ("healthy_about", "healthy_news", "healthy_product", "healthy_event"):
            lines = [*lines, *prose]
        tag = self.chance.choice(("p", "p", "li"))
        text = "".join(f"<{tag}>{_e(line)}</{tag}>" for line in lines)
        text = f"<ul>{text}</ul>" if tag == "li" else text
        form = _LOGIN if kind == "healthy_login" and self.chance.random() < 0.8 else ""
        parts = [f"<h1>{_e(head)}</h1>", text, form, self._buttons(1)]
        if self.chance.random() < 0.2:
            parts.append(self._more())
        return self._whole(head, parts, chrome=self.chance.random() < (0.1 if kind == "healthy_small" else 0.85))

    def _box(self, kind: PageKind, head: str) -> str:
        tag, inner = self.chance.choice(_TAGS), self.chance.choice(("p", "p", "div", "li"))
        lines = "".join(
            f"<{inner}>{_e(line)}</{inner}>" for line in self._lines(self.chance.choice((1, 1, 2, 2, 3, 4, 6)))
        )
        lines = f"<ul>{lines}</ul>" if inner == "li" else lines
        form = ""
        if kind is PageKind.LOGIN_WALL and self.chance.random() < 0.35:
            form = _LOGIN
        elif kind is PageKind.AGE_GATE and self.chance.random() < 0.3:
            form = _BIRTH
        box = self.chance.choice(_BOXES)
        role = " role=dialog aria-modal=true" if kind in _IN_FRONT and self.chance.random() < 0.25 else ""
        return f"<div class='{box}'{role}><{tag}>{_e(head)}</{tag}>{lines}{form}{self._buttons(3)}</div>"

    def _lines(self, count: int) -> list[str]:
        return [
            self._filled(line)
            for line in self.chance.sample(list(self.wording.lines), min(count, len(self.wording.lines)))
        ]

    def _buttons(self, most: int) -> str:
        labels = self.chance.sample(
            list(self.wording.buttons), min(self.chance.randint(0, most), len(self.wording.buttons))
        )
        names = [_e(self._filled(label)) for label in labels]
        if self.chance.random() < 0.4:
            return " ".join(f"<button>{name}</button>" for name in names)
        targets = _TARGETS.get(self.kind, ("/x", "/more", "/help", "/contact"))
        return " ".join(f"<a href='{self.chance.choice(targets)}'>{name}</a>" for name in names)

    def _more(self) -> str:
        links = "".join(
            f"<li><a href='/{at}'>{_e(self._headline())}</a></li>" for at in range(self.chance.randint(2, 8))
        )
        return f"<aside><ul>{links}</ul></aside>"

    def _whole(self, head: str, parts: Sequence[str], *, chrome: bool) -> str:
        title = self.chance.choice((head, f"{head} | {self.site}", f"{head} - {self.site}", self.site))
        names = self.chance.sample(list(self.lender.short), min(len(self.lender.short), self.chance.randint(3, 16)))
        menu = "".join(f"<a href='/{at}'>{_e(name)}</a> " for at, name in enumerate(names))
        before = f"<header><nav>{menu}</nav></header>" if chrome else ""
        feet = "".join(f"<a href='/f{at}'>{_e(name)}</a> " for at, name in enumerate(names[::-1])) if chrome else ""
        after = f"<footer>{feet}<p>© 20{self.chance.randint(10, 26)} {_e(self.site)}</p></footer>" if chrome else ""
        style = "<link rel=stylesheet href=/s.css>" if self.chance.random() < 0.6 else "<style>body{margin:0}</style>"
        scripts = "<script src=/x.js></script>" * self.chance.randint(0, 3)
        main = "".join(parts)
        main = f"<main>{main}</main>" if self.chance.random() < 0.4 else main
        return f"<!doctype html><title>{_e(title)}</title>{style}<body>{before}{main}{after}{scripts}"

    def _headline(self) -> str:
        """Return the first words of a paragraph, as long as a headline is."""
        return self.chance.choice(self.lender.long)[: self.chance.randint(30, 80)].rpartition(" ")[0] or self.site

    def _filled(self, words: str) -> str:
        chance = self.chance
        values = {
            "site": self.site,
            "title": self.title,
            "price": chance.choice(("{} €", "€{}", "${}", "£{}", "{} kr")).format(
                f"{chance.randint(1, 39)}.{chance.choice((0, 50, 90, 99)):02}"
            ),
            "n": str(chance.randint(1, 9)),
            "date": f"{chance.randint(1, 28)}.{chance.randint(1, 12)}.20{chance.randint(22, 27)}",
            "minutes": str(chance.randint(2, 50)),
        }
        for name, value in values.items():
            words = words.replace(f"{{{name}}}", value)
        return words


def _e(text: str) -> str:
    return html.escape(text)
