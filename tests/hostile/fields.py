"""The corpus of fields: forms of shops, banks and authorities in ten languages, as pages that a browser shows."""

from __future__ import annotations

import html
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from protocol.policy import FieldKind
from tests.hostile.corpus import FOLDER, is_held_out

_KINDS: Final[Mapping[str, FieldKind]] = MappingProxyType(
    {"C": FieldKind.CREDENTIAL, "P": FieldKind.PAYMENT, "I": FieldKind.PERSONAL_ID, "-": FieldKind.ORDINARY}
)
_STYLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "label": '<label for="{id}">{words}</label> {control}',
        "wrap": "<label><span>{words}</span> {control}</label>",
        "float": '<div class="float">{control}<label for="{id}">{words}</label></div>',
        "placeholder": "{control}",
        "aria": "{control}",
        "text": "<div>{words}</div><div>{control}</div>",
        "table": "<table><tr><td>{words}</td><td>{control}</td></tr></table>",
        "labelledby": '<p id="{id}-l">{words}</p>{control}',
        "heading": "{control}",
        "near": "<div><div><span>{words}</span></div><div><div>{control}</div></div></div>",
        "spaced": '<label for="{id}">{spaced}</label> {control}',
        "zerowidth": '<label for="{id}">{zerowidth}</label> {control}',
        "lookalike": '<label for="{id}">{lookalike}</label> {control}',
        "split": '<label for="{id}"><b>Pass</b><i>word</i></label> {control}',
        "masked": '<label for="{id}">{words}</label> {control}',
        "mislabelled": '<label for="{id}">{words}</label> {control}',
        "editor": '<span id="{id}-l">{words}</span>{control}',
    }
)
"""How the words of a field stand beside its control."""

_ATTRIBUTES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "placeholder": 'placeholder="{words}"',
        "aria": 'aria-label="{words}"',
        "labelledby": 'aria-labelledby="{id}-l"',
        "masked": 'style="-webkit-text-security:disc"',
        "mislabelled": 'aria-label="Search" autocomplete="postal-code"',
        "editor": 'contenteditable="true" aria-labelledby="{id}-l"',
    }
)
_LOOK_ALIKES: Final = str.maketrans("aopse", "\u0430\u043e\u0440\u0455\u0435")


@dataclass(frozen=True)
class CorpusField:
    """One field: what it is for, and the id of its element."""

    id: str
    kind: FieldKind
    element: str

    @property
    def held_out(self) -> bool:
        """Whether it belongs to the half that no word was chosen by."""
        return is_held_out(self.id)


@dataclass(frozen=True)
class CorpusForm:
    """One page with a form."""

    id: str
    html: str
    fields: tuple[CorpusField, ...]


@cache
def forms() -> tuple[CorpusForm, ...]:
    """Return every form of the corpus."""
    source: list[dict[str, Any]] = tomllib.loads((FOLDER / "fields.toml").read_text("utf-8"))["form"]
    return tuple(_form(one) for one in source)


def _form(source: Mapping[str, Any]) -> CorpusForm:
    rows, fields = list[str](), list[CorpusField]()
    for number, row in enumerate(source["fields"], 1):
        kind, *columns = [str(one) for one in row]
        field_id = f"{source['id']}-{number}"
        rows.append(_row(field_id, columns))
        fields.append(CorpusField(field_id, _KINDS[kind], _element(field_id, columns)))
    inner = "".join(f'<div class="row" id="row{number}">{row}</div>' for number, row in enumerate(rows, 1))
    markup = (
        f'<!doctype html><html lang="{source["language"]}"><meta charset="utf-8"><title>{source["title"]}</title>'
        f'<h1>{source["title"]}</h1><form action="/go" method="post">{inner}<button>OK</button></form></html>'
    )
    return CorpusForm(source["id"], markup, tuple(fields))


def _element(field_id: str, columns: list[str]) -> str:
    """Return the id of the element, which says nothing where only the words around it do."""
    return f"x{field_id.rpartition('-')[2]}" if columns[0] == "near" else columns[2]


def _row(field_id: str, columns: list[str]) -> str:
    style, type_, name, words, attributes, group = [*columns, "", ""][:6]
    given = {
        "id": _element(field_id, columns),
        "words": html.escape(words),
        "spaced": " ".join(words),
        "zerowidth": "\u200b".join(words),
        "lookalike": words.translate(_LOOK_ALIKES),
    }
    extra = f"{attributes} {_ATTRIBUTES.get(style, '').format(**given)}"
    opening = f'id="{given["id"]}" name="{name}" {extra}'
    control = {
        "textarea": f"<textarea {opening}></textarea>",
        "select": f"<select {opening}><option>1</option><option>2</option></select>",
        "div": f'<div id="{given["id"]}" {extra} style="min-height:1em;border:1px solid"></div>',
    }.get(type_, f'<input type="{type_}" {opening}>')
    row = _STYLES[style].format(control=control, **given)
    return f"<h2>{html.escape(group)}</h2>{row}" if group else row
