"""Makes up pages of what few real pages show: thin kinds and languages, and healthy pages that look like stand-ins.

Their words are the phrases of the lexicon and lines of healthy pages; each belongs to the group of the page whose lines
it borrows, so that it is held out with it.
"""

from __future__ import annotations

# ruff: noqa: PLR2004, RUF001 - chances, and words of other languages
import html
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from actors.verifier.lexicon import spoken
from protocol.page import PageKind
from scripts.judge_training.data import MADE_UP_WEIGHT, WORKERS, Example, claim_of
from scripts.judge_training.worded import Lender, worded

_SEED = 20_261_123
_EACH = 42
_THIN = 70
_LOOKALIKES = 700
_CONTAMINATED = 350
_SHORT = 450
_RECORDS = 300

_PLENTY = frozenset({PageKind.SERVER_ERROR, PageKind.FORBIDDEN, PageKind.NOT_FOUND, PageKind.CHALLENGE})
_PATHS = (
    *("/", "/news/bridge-reopens", "/shop/oak-table", "/2024/03/harvest", "/guide/install", "/t/991", "/item?id=77"),
    *("/people/board", "/wiki/Loom", "/recipes/soup", "/docs/api", "/a/b/c.html", "/events/2025", "/p/12345"),
)
_CODES: dict[PageKind, tuple[str, ...]] = {
    PageKind.NOT_FOUND: ("404",),
    PageKind.GONE: ("410",),
    PageKind.SERVER_ERROR: ("500", "502", "503", "504", "501", "520"),
    PageKind.MAINTENANCE: ("503",),
    PageKind.FORBIDDEN: ("403", "401"),
    PageKind.RATE_LIMITED: ("429",),
    PageKind.GEO_BLOCKED: ("451",),
}
_FRAMES: dict[str, tuple[str, ...]] = {
    "en": (
        "How to fix “{}”",
        "What does “{}” mean?",
        "“{}”: causes and remedies",
        "Why visitors see {} and what to do",
        "Designing a good {} message",
        "Understanding {} in HTTP",
        "The story behind {}",
        "Glossary: {}",
    ),
    "de": ("Was bedeutet „{}“?", "„{}“ beheben: so geht es", "{} richtig gestalten", "Ratgeber: {}"),
    "fr": ("Que signifie « {} » ?", "Comment corriger « {} »", "Comprendre {}", "Guide : {}"),
    "es": ("¿Qué significa «{}»?", "Cómo solucionar «{}»", "Guía sobre {}", "Por qué aparece {}"),
    "it": ("Che cosa significa «{}»", "Come risolvere «{}»", "Guida a {}"),
    "pt": ("O que significa “{}”?", "Como resolver “{}”", "Guia sobre {}"),
    "nl": ("Wat betekent “{}”?", "Zo los je “{}” op"),
    "pl": ("Co oznacza „{}”?", "Jak naprawić „{}”"),
    "sv": ("Vad betyder ”{}”?", "Så löser du ”{}”"),
    "cs": ("Co znamená „{}“?", "Jak opravit „{}“"),
    "tr": ("“{}” ne demek?", "“{}” sorunu nasıl çözülür"),
    "ru": ("Что значит «{}»?", "Как исправить «{}»", "Разбираемся: {}"),
    "ja": ("「{}」とは何か", "「{}」の原因と対処法"),
    "zh": ("“{}”是什么意思", "如何解决“{}”的问题", "详解：{}"),
    "ko": ("“{}”의 의미", "“{}” 해결 방법"),
}
_BUTTONS: dict[PageKind, tuple[str, ...]] = {
    PageKind.CONSENT_WALL: ("OK", "Options"),
    PageKind.AGE_GATE: ("Yes", "No", "Enter", "Exit"),
    PageKind.PAYWALL: ("Subscribe", "9,99 €", "Login"),
    PageKind.CHALLENGE: ("Continue",),
    PageKind.OFFLINE: ("Retry",),
}
_LOOKS = ("error-page", "wrap", "container", "page", "content", "box center", "main-wrapper", "card", "hero", "")


@dataclass(frozen=True)
class _Lines:
    """Lines of one healthy page: short ones for a chrome, long ones for paragraphs."""

    example: Example
    short: Sequence[str]
    long: Sequence[str]


@dataclass(frozen=True)
class _Sketch:
    """A page that is to be made up, as markup, from whose lines it borrows."""

    number: int
    kind: PageKind | None
    language: str
    source: str
    path: str
    group: str


def made_up(healthy: Sequence[Example]) -> list[Example]:
    """Return made-up pages, the same ones each time; those of `healthy` that have enough lines lend them."""
    with ProcessPoolExecutor(WORKERS) as pool:
        return list(pool.map(_example, _sketches(healthy), chunksize=64))


def _sketches(healthy: Sequence[Example]) -> Iterator[_Sketch]:
    """Return made-up pages, the same ones each time; those of `healthy` that have enough lines lend them."""
    chance = random.Random(_SEED)  # noqa: S311 - the same pages each time are what is wanted
    lenders = [lines for lines in map(_lines, healthy) if len(lines.short) > 5 and len(lines.long) > 2]
    words: dict[tuple[str, PageKind], list[str]] = {}
    for language, kind, phrase in spoken():
        words.setdefault((language, kind), []).append(phrase)
    by_kind = {kind: [language for language, spoken_kind in words if spoken_kind is kind] for kind in PageKind}
    number = 0
    for page, at in worded(chance, [Lender(lines.short, lines.long) for lines in lenders]):
        yield _Sketch(number, page.kind, page.language, page.source, page.path, lenders[at].example.group)
        number += 1
    for kind, languages in by_kind.items():
        for _ in range(_EACH if kind in _PLENTY else _THIN):
            language = "en" if chance.random() < 0.35 else chance.choice(languages)
            lines = chance.choice(lenders)
            source = _stand_in(chance, kind, words.get((language, kind)) or words["en", kind], lines)
            yield _Sketch(number, kind, language, source, chance.choice(_PATHS), lines.example.group)
            number += 1
    keys = list(words)
    for amount, make in ((_LOOKALIKES, _about), (_CONTAMINATED, _contaminated), (_SHORT, _short), (_RECORDS, _records)):
        for _ in range(amount):
            language, kind = chance.choice([key for key in keys if key[0] in _FRAMES])
            lines = chance.choice(lenders)
            source = make(chance, language, words[language, kind], lines)
            yield _Sketch(number, None, language, source, chance.choice(_PATHS), lines.example.group)
            number += 1


def _example(sketch: _Sketch) -> Example:
    claim, sure = claim_of(sketch.source.encode(), f"https://made-up.example{sketch.path}")
    return Example(
        f"made_up_{sketch.number}",
        sketch.kind,
        "made_up",
        sketch.language,
        sketch.group,
        200,
        claim,
        sure,
        weight=MADE_UP_WEIGHT,
        made_up=True,
    )


def _lines(example: Example) -> _Lines:
    shown = [line.strip() for line in example.claim.evidence.visible.split("\n")]
    paragraphs = [line for line in example.claim.opening.content.markdown.split("\n") if len(line) > 90]
    return _Lines(example, [line for line in shown if 2 < len(line) < 30], [line[:600] for line in paragraphs])


def _stand_in(chance: random.Random, kind: PageKind, phrases: Sequence[str], lines: _Lines) -> str:
    picked = chance.sample(list(phrases), min(len(phrases), chance.randint(2, 6)))
    number = chance.choice(_CODES.get(kind, ("",)))
    head = _styled(chance, picked[0])
    if number and chance.random() < 0.6:
        head = chance.choice((f"{number} {head}", f"{number} - {head}", f"{head} ({number})"))
    site = chance.choice(lines.short)
    title = chance.choice((head, f"{head} | {site}", f"{site} - {head}", site, number or head))
    sentences = ". ".join(_styled(chance, phrase) for phrase in picked[1:])
    if kind is PageKind.RATE_LIMITED and chance.random() < 0.3:
        sentences += f". {chance.randint(5, 900)} s"
    parts = [f"<h1>{_e(head)}</h1>", f"<p>{_e(sentences)}.</p>", *_extras(chance, kind, lines)]
    if chance.random() < 0.25:
        parts.append(
            f"<p>ID: {chance.getrandbits(64):016x} · {chance.randint(1, 254)}.0.2.{chance.randint(1, 254)}</p>"
        )
    if chance.random() < 0.3:
        parts.append(f"<p><a href='/'>{_e(chance.choice(lines.short))}</a></p>")
    return _page(chance, title, "".join(parts), lines, chrome=chance.random() < 0.45)


def _extras(  # noqa: PLR0911 - a case a kind
    chance: random.Random, kind: PageKind, lines: _Lines
) -> list[str]:
    buttons = "".join(f"<button>{label}</button>" for label in _BUTTONS.get(kind, ()))
    if kind is PageKind.LOGIN_WALL:
        return [
            "<form method=post><input type=email name=user><input type=password name=pass><button>OK</button></form>"
        ]
    if kind is PageKind.AGE_GATE and chance.random() < 0.4:
        return ["<form><input name=day><input name=month><input name=year></form>", buttons]
    if kind is PageKind.PAYWALL:
        return [f"<p>{_e(chance.choice(lines.long)[:300])}…</p>" if chance.random() < 0.6 else "", buttons]
    if kind is PageKind.PARKED:
        return ["<ul>", *(f"<li><a href='?q={at}'>{_e(line)}</a>" for at, line in enumerate(lines.short[:8])), "</ul>"]
    if kind is PageKind.COMING_SOON and chance.random() < 0.5:
        return ["<form><input type=email><button>OK</button></form>", "<div>12</div><div>04</div><div>33</div>"]
    if kind is PageKind.EMPTY_SHELL:
        return [
            chance.choice(("<div class=spinner></div>", "<div id=root></div>", "")),
            "<script src=/app.js></script>",
        ]
    return [buttons]


def _about(chance: random.Random, language: str, phrases: Sequence[str], lines: _Lines) -> str:
    """Write an article about an error: its title speaks of it, and so do some of its sentences."""
    phrase = chance.choice(list(phrases))
    title = chance.choice(_FRAMES[language]).format(_styled(chance, phrase))
    body = chance.sample(list(lines.long), min(len(lines.long), chance.randint(1, 5)))
    body[0] = f"{_styled(chance, phrase)}: {body[0][: chance.choice((120, 250, 600))]}"
    body += [
        f"{line[:80]} {_styled(chance, other)} {line[80:200]}" for line, other in zip(body[1:], phrases, strict=False)
    ]
    day = f"<p>{chance.randint(1, 28)}.{chance.randint(1, 12)}.20{chance.randint(10, 26)}</p>"
    text = "".join(f"<p>{_e(line)}</p>" for line in body)
    chrome = chance.random() < 0.7
    return _page(chance, title, f"<article><h1>{_e(title)}</h1>{day}{text}</article>", lines, chrome=chrome)


def _contaminated(chance: random.Random, language: str, phrases: Sequence[str], lines: _Lines) -> str:  # noqa: ARG001
    """Write a page that has a banner, a box or a footer with the words of a wall."""
    title = chance.choice(lines.short)
    text = "".join(f"<p>{_e(line)}</p>" for line in lines.long[: chance.randint(2, 8)])
    box = ". ".join(_styled(chance, phrase) for phrase in chance.sample(list(phrases), min(len(phrases), 3)))
    tag = chance.choice(
        ("div class=cookie-banner", "footer", "aside", "div role=dialog", "div class=notice", "section")
    )
    banner = f"<{tag}>{_e(box)} <button>OK</button></{tag.split()[0]}>"
    content = f"<main><h1>{_e(title)}</h1>{text}</main>"
    return _page(chance, title, content + banner if chance.random() < 0.7 else banner + content, lines, chrome=True)


def _short(chance: random.Random, language: str, phrases: Sequence[str], lines: _Lines) -> str:  # noqa: ARG001
    """Write a page with a sentence or two: a note, a contact, a product."""
    title = chance.choice(lines.short)
    line = chance.choice(list(lines.long))
    cut = chance.choice((40, 90, 160, 300))
    return _page(chance, title, f"<h1>{_e(title)}</h1><p>{_e(line[:cut])}</p>", lines, chrome=chance.random() < 0.6)


def _records(chance: random.Random, language: str, phrases: Sequence[str], lines: _Lines) -> str:  # noqa: ARG001
    """Write a page of a small application: names and values, rows of a table, or a form, with hardly a sentence."""
    names = chance.sample(list(lines.short), min(len(lines.short), chance.randint(3, 8)))
    title = chance.choice((names[0], f"{names[0]} {chance.randint(1, 9_000)}"))
    markup = chance.choice(
        ("<dt>{}<dd>{}", "<p><b>{}:</b> {}</p>", "<label>{} <input value='{}'></label><br>", "table")
    )
    if markup == "table":
        rows = ["".join(f"<td>{_value(chance, lines)}" for _ in names) for _ in range(chance.randint(1, 12))]
        body = f"<table><tr>{''.join(f'<th>{_e(name)}' for name in names)}<tr>{'<tr>'.join(rows)}</table>"
    else:
        body = "".join(markup.format(_e(name), _value(chance, lines)) for name in names)
    return _page(chance, title, f"<h1>{_e(title)}</h1>{body}", lines, chrome=chance.random() < 0.5)


def _value(chance: random.Random, lines: _Lines) -> str:
    number = chance.randint(1, 99_999)
    day = f"20{chance.randint(10, 27)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
    return _e(chance.choice((str(number), f"{number / 100:.2f}", day, *chance.sample(list(lines.short), 2))))


def _page(chance: random.Random, title: str, content: str, lines: _Lines, *, chrome: bool) -> str:
    look = chance.choice(_LOOKS)
    links = chance.sample(list(lines.short), min(len(lines.short), chance.randint(3, 10)))
    menu = "".join(f"<a href='/{at}'>{_e(line)}</a> " for at, line in enumerate(links))
    before = f"<header><nav>{menu}</nav></header>" if chrome else ""
    after = f"<footer><p>© 20{chance.randint(10, 26)} {_e(links[0])}</p></footer>" if chrome else ""
    style = "<link rel=stylesheet href=/s.css>" if chance.random() < 0.6 else "<style>body{margin:0}</style>"
    scripts = "<script src=/x.js></script>" * chance.randint(0, 3)
    inner = f"<div class='{look}'>{content}</div>" if look else content
    return f"<!doctype html><title>{_e(title)}</title>{style}<body>{before}{inner}{after}{scripts}"


def _styled(chance: random.Random, phrase: str) -> str:
    return chance.choice((phrase, phrase.capitalize(), phrase.capitalize(), phrase.title(), phrase.upper()))


def _e(text: str) -> str:
    return html.escape(text)
