"""Reads the names of authors that pages write."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from actors.fetchers.extract.fields.dates import written

MAX_NAMES = 12
MAX_CHARS = 600
_MAX_NAME_CHARS = 60
_MAX_NAME_WORDS = 7

BY = (
    r"(?:by|von|vom|par|por|di|door|av|af|od|от|przez|durch|words by|text by|story by|article by|written by|posted by"
    r"|published by|created by|reported by|reviewed by|updated by|started by|submitted by|asked by|contributed by|geschrieben von"
    r"|verfasst von|erstellt von|veröffentlicht von|ein beitrag von|text von|écrit par|publié par|rédigé par|proposé par"
    r"|escrito por|publicado por|redactado por|scritto da|a cura di|geschreven door|written|authors?|autorin|autor(?:en|es)?"
    r"|auteurs?|autore|author name|redakteur(?:in)?|writers?|words|texto?|tekst|reporter|contributors?|contributor name|posted"
    r"|作者|文|記者|记者|编辑|撰文)"
)
_PREFIX = re.compile(rf"^(?:\W*\b{BY}(?=[\s:：/|]|$)\s*[:：|/-]?\s*)+", re.IGNORECASE)
_CUT = re.compile(
    r"\s[|•·—–»/]\s|\s-\s|\s{0,2}[|•·»]\s{0,2}|\s//\s|\n|\t|\s(?:on|in|at|am|um|updated|published|posted|last updated|"
    r"aktualisiert|veröffentlicht|publié|publicado)\b(?=\s*[:\d\s])",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"\s*(?:;|,\s*(?:and|und|et|y|e|&)\s|,|\s(?:and|und|et|y|e|og|och|en|with|mit|avec)\s|\s*&\s*|\s/\s|、|＆)\s*",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?:|www\.|\.(?:com|org|net|de)/|^/")
_MAIL = re.compile(r"<?\(?[\w.+-]+(?:@|\sat\s)[\w.-]+\.\w+\)?>?")
_DEGREE = re.compile(
    r"(?:(?:m\.?d|ph\.?\s?d|d\.?o|r\.?n|r\.?d|m\.?s|m\.?a|b\.?a|b\.?s|m\.?b\.?a|j\.?d|esq|c\.?p\.?a|cfp®?|m\.?p\.?h|jr|sr|ii|iii"
    r"|d\.?v\.?m|psy\.?d|dds|lcsw|rdn?|cpt|facp|faap|msn|ldn|mph|cssd|rn|np|pa-c|m\.?sc|b\.?sc|dr|prof)\.?)+$",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"\b(?:editor|writer|reporter|correspondent|journalist|contributor|director|manager|founder|ceo|cto|vp|president|officer"
    r"|head of|professor|specialist|analyst|expert|consultant|columnist|freelance|redakteur|redaktion|reviewed|fact.checked"
    r"|medically|senior|associate|assistant|lead|scientist|engineer|producer|member|moderator|administrator)\b",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"(?:admin|administrator|authors?|by|guest|unknown|none|null|undefined|user|username|anonymous|n/?a|more|posts?|bio|x"
    r"|comments?|profile|website|e-?mail|facebook|twitter|instagram|linkedin|youtube|home|menu|reply|the|mehr|artikel|teilen"
    r"|drucken|foto|photo|image|getty images|shutterstock|advertisement|sponsored|disclosure|editorial policy|on|via|name"
    r"|access|offline|online|e[sd]t|utc|gmt|webmaster|\W*)",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"(?:view|share|follow|join|read|get|see|print|open|close|start|sign|log|login|click|watch|browse|search|skip|subscribe"
    r"|download|advanced|back|return|about|contact|all|more|table of|last|learn|social|meet|buy|shop|save|add|send|select"
    r"|continue|check|find|show|hide|load|loading|submit|report|leave|write|post a|no comments|comments?|published|updated|posted"
    r"|image|photo|foto|video|audio|listen|minute|min|newsletter|related|latest|recent|popular|top|next|previous|home|how"
    r"|why|what|when|where|who|this|these|here|for|in|on|at|to|with|from|is|are|mon|tue|wed|thu|fri|sat|sun|\w+days?|\w+tag"
    r"|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|zum|zur|zurück|alle|weitere|mehr|jetzt|hier|lesen|anmelden)\b"
    r"(?!\.)(?!$)",
    re.IGNORECASE,
)
_WORK = re.compile(
    r"\b(?:staff|team|editors?|editorial|desk|news|press|agency|media|magazine|times|post|inc|llc|ltd|gmbh|ag|university"
    r"|institute|redaktion|redacción|rédaction|redazione|group|company|blog|journal|network|online|services?|department"
    r"|association|foundation|reuters|afp|dpa|ap|apa|official)\b|\.(?:com|org|net|de|at|ch|io)\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"\d{1,2}[:.]\d\d(?::\d\d)?\s?(?:[ap]\.?m\.?|uhr|et|est|gmt|utc)?\b|\d+\s+(?:min|hour|day|week|month|hora|stunde)\w*( read| ago)?", re.IGNORECASE)
_TITLES = re.compile(r"^(?:mr|mrs|ms|sir)\.?\s", re.IGNORECASE)


@lru_cache(4096)
def people(text: str) -> tuple[str, ...]:
    """Give the names that a text lists, without "By", roles, degrees, dates and addresses."""
    found: dict[str, str] = {}
    for piece in _pieces(unicodedata.normalize("NFC", text[:MAX_CHARS])):
        name = _name(piece)
        if name and key(name) not in found:
            found[key(name)] = name
    names = tuple(found.values())[:MAX_NAMES]
    names = names[:1] + tuple(name for name in names[1:] if not _ROLE.search(name))
    persons = tuple(name for name in names if not is_work(name))
    return persons or names


def key(name: str) -> str:
    """Give a name in a form that its spellings share."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    return " ".join(re.findall(r"\w+", "".join(mark for mark in plain if not unicodedata.combining(mark))))


def is_work(name: str) -> bool:
    """Tell whether a name is that of an organisation, as far as its words tell."""
    return bool(_WORK.search(name))


def looks_personal(name: str) -> bool:
    """Tell whether a name is written as those of people are: two to four words with capitals."""
    words = [word for word in re.split(r"[\s-]+", name) if word]
    capital = sum(word[0].isupper() for word in words)
    return 2 <= len(words) <= 5 and capital >= len(words) - 1 and not re.search(r"\d", name)  # noqa: PLR2004


def _pieces(text: str) -> Iterator[str]:
    """Give the parts of a text that may be one name each."""
    text = _MAIL.sub(" ", text.replace("\xa0", " ")).strip()
    if _ADDRESS.search(text):
        return
    line = _line(text)
    for piece in _LIST.split(line):
        yield piece


def _line(text: str) -> str:
    """Give the part of a text that names somebody: what follows "By", or the first part that is a name."""
    parts = [part.strip() for part in _CUT.split(_without_dates(text)) if part and part.strip()]
    marked = [_PREFIX.sub("", part) for part in parts if _PREFIX.match(part)]
    if named := next((part for part in marked if part), ""):
        return named
    for index, part in enumerate(parts):
        if _PREFIX.fullmatch(part + " ") and index + 1 < len(parts):
            return parts[index + 1]
    return next((part for part in parts if _name(_LIST.split(part)[0])), "")


def _without_dates(text: str) -> str:
    """Put a border where a date or a time of day stands."""
    for start, end, _ in reversed(list(written(text))):
        text = f"{text[:start]}\n{text[end:]}"
    return _CLOCK.sub("\n", text)


def _name(piece: str) -> str:
    """Give a name cleaned of what is not part of it; "" when it is none."""
    name = _PREFIX.sub("", piece)
    name = re.sub(r"\([^)]*\)|\[[^\]]*\]|@\w+$", " ", name)
    name = _TITLES.sub("", " ".join(name.split())).strip(" ,.:;|-–—*\"'“”/>»<…•·#")
    if not name or len(name) > _MAX_NAME_CHARS or len(name.split()) > _MAX_NAME_WORDS:
        return ""
    if _NOBODY.fullmatch(name) or _COMMAND.match(name) or _DEGREE.fullmatch(name) or not re.search(r"[^\W\d_]", name):
        return ""
    if _ROLE.search(name) and not (looks_personal(name) or _ROLE.fullmatch(name)):
        return ""
    return name.title() if name.isupper() and len(name) > 6 else name  # noqa: PLR2004 - shorter ones are initials
