"""Recognizes GraphQL queries that change nothing, by the tokens of their document (GraphQL 2021, §2.1)."""

from __future__ import annotations

import re
from typing import Final

MAX_DOCUMENT_CHARS: Final = 16_000

_TOKEN: Final = re.compile(
    r"(?P<ignored>[ \t\r\n,\ufeff]++|#[^\r\n]*+)"
    r'|(?P<text>"""(?:\\"""|[^"\\]|\\|"(?!""))*+"""|""(?!")|"(?:[^"\\\r\n]|\\.)++")'
    r"|(?P<number>-?[0-9][0-9.eE+-]*+)"
    r"|(?P<name>[A-Za-z_]\w*+)"
    r"|(?P<opening>[{(\[])|(?P<closing>[})\]])"
    r"|(?P<other>\.\.\.|[!$&:=@|])",
    re.ASCII,
)
_CLOSES: Final = {"{": "}", "(": ")", "[": "]"}
_DEFINITIONS: Final = frozenset({"query", "fragment"})


def is_query(document: str) -> bool:
    """Return whether a document holds queries and fragments alone: no mutation, no subscription, nothing unreadable."""
    open_brackets: list[str] = []
    position, queries, definition = 0, 0, ""
    if len(document) > MAX_DOCUMENT_CHARS:
        return False
    while position < len(document):
        token = _TOKEN.match(document, position)
        if token is None:
            return False
        position = token.end()
        match token.lastgroup:
            case "opening":
                queries += not open_brackets and token[0] == "{" and definition != "fragment"
                open_brackets.append(_CLOSES[token[0]])
            case "closing":
                if not open_brackets or open_brackets.pop() != token[0]:
                    return False
                definition = definition if open_brackets or token[0] != "}" else ""
            case "name" if not open_brackets and not definition:
                if token[0] not in _DEFINITIONS:
                    return False
                definition = token[0]
            case _:
                pass
    return not open_brackets and queries > 0
