"""Puts values together again that were written as one flat list whose parts refer to each other by number."""

from __future__ import annotations

from actors.extraction.parse.values import Json, scalar

MAX_PARTS = 200_000
"""How many parts are put together: the longest list of the data sets has 21,000."""

_WRAPPED = frozenset({"Ref", "ShallowRef", "Reactive", "ShallowReactive", "EmptyRef", "EmptyShallowRef", "Object", "P"})
"""Marks of a part that stands for another one, as Nuxt and Remix write them."""

_TEXTS = frozenset({"Date", "BigInt", "URL", "D", "B", "U", "N", "Y"})
"""Marks of a part that is written as a text or number."""

_MAPS = frozenset({"Map", "M", "null"})


def joined(flat: Json, *, numbered_keys: bool = False) -> Json:
    """Return the value that the first part of a list stands for; None where it is no such list.

    With `numbered_keys`, the names of properties are parts, too: Remix writes `_` and their number.
    Objects may hold themselves, as the page's own do: walk them by `values.walk`.
    """
    if not isinstance(flat, list) or not flat or len(flat) > MAX_PARTS:
        return None
    return _Parts(flat, numbered_keys=numbered_keys).first()


class _Parts:
    """The parts of one list, each put together once."""

    def __init__(self, flat: list[Json], *, numbered_keys: bool) -> None:
        self._flat = flat
        self._numbered_keys = numbered_keys
        self._made: dict[int, Json] = {}
        self._open: list[int] = []

    def first(self) -> Json:
        value = self._part(0)
        while self._open:
            self._fill(self._open.pop())
        return value

    def _part(self, index: Json) -> Json:
        """Return a part, made empty at first so that circles end; what is no number of a part is nothing."""
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(self._flat):
            return None
        for _ in range(8):  # wrappers in wrappers
            part = self._flat[index]
            match part:
                case [str() as mark, int() as other, *_] if mark in _WRAPPED and 0 <= other < len(self._flat):
                    index = other
                case _:
                    break
        if index not in self._made:
            self._made[index] = self._empty(index)
        return self._made[index]

    def _empty(self, index: int) -> Json:
        part = self._flat[index]
        match part:
            case [str() as mark, (str() | int() | float()) as value, *_] if mark in _TEXTS:
                return value
            case [str() as mark, *_] if mark in _MAPS:
                self._open.append(index)
                return {}
            case list():
                self._open.append(index)
                return []
            case dict():
                self._open.append(index)
                return {}
            case _:
                return part

    def _fill(self, index: int) -> None:
        part, made = self._flat[index], self._made[index]
        if isinstance(made, list) and isinstance(part, list):
            skipped = 1 if part and isinstance(part[0], str) else 0  # a mark: of a set, or of what is not known
            made.extend(self._part(child) for child in part[skipped:])
        elif isinstance(made, dict) and isinstance(part, dict):
            made.update((self._key(key), self._part(child)) for key, child in part.items())
        elif isinstance(made, dict) and isinstance(part, list):
            made.update(zip(map(self._name, part[1::2]), map(self._part, part[2::2]), strict=False))

    def _key(self, key: str) -> str:
        if self._numbered_keys and key[:1] == "_" and key[1:].isdecimal() and len(key) < 9:  # noqa: PLR2004 - more digits than MAX_PARTS has
            return self._name(int(key[1:])) or key
        return key

    def _name(self, part: Json) -> str:
        value = self._part(part) if isinstance(part, int) else part
        return scalar(value) if isinstance(value, (str, int, float)) else ""
