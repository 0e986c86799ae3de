"""The schemas of a tool as clients get them, in few words: a model pays for every one of them in each conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from protocol.tools.tool import BRIEFLY

_DEFS = "$defs"
_DEFS_PREFIX = f"#/{_DEFS}/"
_HEADING = frozenset({"title", "$schema"})
_PROSE = _HEADING | {"description"}
_LENGTHS = ("minLength", "maxLength", "minItems", "maxItems", "pattern")
_NOTHING: tuple[object, ...] = (None, False, (), "")
_NULL = {"type": "null"}
_MANY = 400
"""A larger bound is left out, and named to whoever oversteps it: next to nobody does."""


def input_schema(whole: dict[str, Any], plain: Collection[str] = ()) -> dict[str, Any]:
    """Return the schema of a tool's arguments: what each one means stands with it alone, not with its type.

    What need not be given is left out, rather than null; how long a text may be, an error says where it is too long.
    Of the arguments in `plain` the name says all.
    """
    brief: dict[str, Any] = _typed(_without(_HEADING, whole))
    brief.pop("description", None)
    brief["properties"] = {
        name: _without(_PROSE, _plain(field)) if name in plain else _plain(field)
        for name, field in brief["properties"].items()
    }
    definitions: dict[str, Any] = _without(_PROSE, brief.pop(_DEFS, {}))
    if not brief.get("required"):
        brief.pop("required", None)
    brief, definitions = _choices_inlined(brief, definitions)
    used = _used(brief, definitions)
    return brief | ({_DEFS: {name: definitions[name] for name in sorted(used)}} if used else {})


def output_schema(whole: dict[str, Any], fields: Sequence[str]) -> dict[str, Any] | None:
    """Return the schema of a tool's answer: the types of a few fields, which are always there where they must be.

    Without any there is none: that the data is an object goes without saying.
    """
    if not fields:
        return None
    types = {name: _bare(whole, whole["properties"][name]) for name in fields}
    required = [name for name in whole["required"] if name in types]
    return {"type": whole["type"], "properties": types, "required": required}


def _without(words: frozenset[str], node: Any) -> Any:
    """Take out of a schema what the words name; a property may have such a name, and stays."""
    if isinstance(node, dict):
        branch = cast("dict[str, Any]", node)
        kept = {name: value for name, value in branch.items() if name not in words or not isinstance(value, str)}
        return {name: _without(words, value) for name, value in kept.items()}
    return [_without(words, child) for child in cast("Iterable[Any]", node)] if isinstance(node, list) else node


def _typed(node: Any) -> Any:
    """Say of words to choose from that they are texts: some clients take no enumeration without."""
    if isinstance(node, dict):
        branch = {name: _typed(value) for name, value in cast("dict[str, Any]", node).items()}
        of_texts = all(isinstance(word, str) for word in branch.get("enum", (None,)))
        return branch | ({"type": "string"} if of_texts else {})
    return [_typed(child) for child in cast("Iterable[Any]", node)] if isinstance(node, list) else node


def _plain(field: dict[str, Any]) -> dict[str, Any]:
    """Take out of a field what a model need not know to fill it in."""
    if field.get(BRIEFLY):
        return {"type": "object", "description": field["description"]}
    some = [kind for kind in field.get("anyOf", ()) if kind != _NULL]
    plain = {name: value for name, value in field.items() if name != "anyOf"} | some[0] if len(some) == 1 else field
    implied = {name for name, values in (("default", _NOTHING), ("minimum", (0, 1))) if plain.get(name) in values}
    implied |= {"maximum"} if plain.get("maximum", 0) > _MANY else set[str]()
    left = {name: value for name, value in plain.items() if name not in (*_LENGTHS, *implied)}
    return left | ({"items": _plain(left["items"])} if isinstance(left.get("items"), dict) else {})


def _choices_inlined(brief: dict[str, Any], definitions: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Write words to choose from where they are used, if that is one place alone."""
    counts = Counter(_references([brief, definitions]))
    choices = {name: kind for name, kind in definitions.items() if "enum" in kind and counts[name] == 1}
    return _put_in(brief, choices), _put_in(definitions, choices)


def _put_in(node: Any, kinds: Mapping[str, Any]) -> Any:
    """Write types in the place of what refers to them."""
    if isinstance(node, dict):
        branch = cast("dict[str, Any]", node)
        kind = kinds.get(str(branch.get("$ref")).removeprefix(_DEFS_PREFIX))
        rest = {name: _put_in(value, kinds) for name, value in branch.items() if kind is None or name != "$ref"}
        return rest if kind is None else {**kind, **rest}
    return [_put_in(child, kinds) for child in cast("Iterable[Any]", node)] if isinstance(node, list) else node


def _bare(whole: dict[str, Any], field: dict[str, Any]) -> dict[str, Any]:
    """Return the type of a field alone; one that need not be there has none, or its own."""
    kinds = [field, *field.get("anyOf", ())]
    of = [whole[_DEFS][kind["$ref"].removeprefix(_DEFS_PREFIX)] if "$ref" in kind else kind for kind in kinds]
    return {"type": next((kind["type"] for kind in of if "type" in kind), "object")}


def _used(node: Any, definitions: dict[str, Any]) -> set[str]:
    used, unread = set[str](), [node]
    while unread:
        names = set(_references(unread.pop())) - used
        used |= names
        unread += [definitions[name] for name in names]
    return used


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        branch = cast("dict[str, Any]", node)
        if isinstance(reference := branch.get("$ref"), str):
            yield reference.removeprefix(_DEFS_PREFIX)
        node = list(branch.values())
    if isinstance(node, list):
        for child in cast("Iterable[Any]", node):
            yield from _references(child)
