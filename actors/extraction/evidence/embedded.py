"""Reads the data that stand in a page beside its text: JSON-LD, microdata, RDFa, Open Graph, state of frameworks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Literal

from msgspec import Struct
from turbohtml import Document, Element
from turbohtml.extract import MicrodataItem, RdfaItem

from actors.extraction.evidence import linked_data, prose, schema_org, script_values, states
from actors.extraction.evidence.json_values import Json
from actors.extraction.evidence.states import FrameworkState, StateRecord
from actors.extraction.parse.addresses import absolute
from actors.extraction.parse.tree import Page
from protocol.page import StructuredItem

MAX_ITEMS = 2_000
"""How many items of microdata and RDFa are looked at."""

MAX_PROPERTY_CHARS = 4_000_000
"""Characters of all their values together, those within others counted again."""

_SPOKEN = ("og:", "twitter:", "article:", "product:", "book:", "profile:", "video:")
"""What the names of Open Graph begin with."""


MAX_TITLE_CHARS = 1_000
MAX_GIVEN_RECORDS = 3
MAX_GIVEN_ITEMS = 100
MAX_TEXTS = 8
MIN_TEXT_CHARS = 40
"""A shorter text is no content."""


class DataNode(Struct, frozen=True):
    """An object of structured data as linked data, and the notation that it was written in."""

    format: Literal["json-ld", "microdata", "rdfa", "opengraph", "framework"]
    value: dict[str, Json]


def embedded(page: Page) -> EmbeddedData:
    """Return the data that stand in a page beside its text; they are looked for once."""
    return page.once(_embedded)


def _embedded(page: Page) -> EmbeddedData:
    return EmbeddedData.of(page.document, page.root, page.base)


@dataclass(frozen=True)
class EmbeddedData:
    """The data of one page, each kind read when it is first asked for; nothing is run."""

    document: Document = field(repr=False)
    root: Element = field(repr=False)
    base: str = ""

    @staticmethod
    def of(document: Document, root: Element, base: str = "") -> EmbeddedData:
        """Look at a page; `base` is what relative addresses are resolved against."""
        return EmbeddedData(document, root, base)

    @cached_property
    def json_ld(self) -> tuple[dict[str, Json], ...]:
        """The objects of the linked data in their order, graphs opened."""
        return tuple(linked_data.linked_nodes(self._scripts.linked))

    @cached_property
    def json_ld_by_id(self) -> Mapping[str, dict[str, Json]]:
        """The objects that others refer to by their `@id`."""
        return linked_data.nodes_by_id(self.json_ld)

    def resolve(self, value: Json) -> Json:
        """Return the object of linked data that a reference means; anything else as it is."""
        if (
            isinstance(value, dict)
            and isinstance(name := value.get("@id"), str)
            and len(value) <= 1 + ("@type" in value)
        ):
            return self.json_ld_by_id.get(name, value)
        return value

    @cached_property
    def addresses(self) -> frozenset[str]:
        """The addresses that the page gives itself, as `entities.address` writes them."""
        written = [value for name, value in self.open_graph if name == "og:url"]
        written.extend(link.attr("href") or "" for link in self.root.select('link[rel~="canonical"][href]')[:4])
        return frozenset(linked_data.address(absolute(self.base, url)) for url in written[:8])

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """What the page is called in its head."""
        heads = [element.text[:MAX_TITLE_CHARS] for element in self.root.select("title")[:2]]
        return (*heads, *(value for name, value in self.open_graph if name == "og:title"))

    @cached_property
    def microdata(self) -> tuple[MicrodataItem, ...]:
        """The items of microdata that are in no other; none where values stand in each other beyond measure."""
        if not _is_within_measure(self.root, "itemprop"):
            return ()
        try:
            return tuple(self.document.microdata(self.base or None)[:MAX_ITEMS])
        except RecursionError:  # items that refer to each other
            return ()

    @cached_property
    def rdfa(self) -> tuple[RdfaItem, ...]:
        """The resources of RDFa that are in no other; none where values stand in each other beyond measure."""
        if not _is_within_measure(self.root, "property"):
            return ()
        try:
            return tuple(self.document.rdfa(self.base or None)[:MAX_ITEMS])
        except RecursionError:
            return ()

    @cached_property
    def open_graph(self) -> tuple[tuple[str, str], ...]:
        """The properties of Open Graph with their prefix ("og:title"), in the order of the page."""
        return tuple(
            (name, content.strip())
            for meta in self.root.iter_elements("meta")
            if (name := (meta.attr("property") or meta.attr("name") or "").strip().lower()).startswith(_SPOKEN)
            and (content := meta.attr("content") or "").strip()
        )

    @cached_property
    def states(self) -> tuple[FrameworkState, ...]:
        """The states of frameworks and other data that scripts and attributes hold."""
        return tuple(islice(self._scripts.states(self.root), states.MAX_STATES))

    @cached_property
    def records(self) -> tuple[StateRecord, ...]:
        """The objects of the states that bear the page's title."""
        return states.titled_records(self.states, self.titles)

    @property
    def code(self) -> Sequence[str]:
        """What the inline scripts of the page hold that is run."""
        return self._scripts.code

    @property
    def inline(self) -> Iterator[str]:
        """What the inline scripts hold, run or not, but for linked data."""
        yield from (script.text for script, _ in self._scripts.data)
        yield from self._scripts.code

    @cached_property
    def deferred(self) -> tuple[str, ...]:
        """The states that are written as functions: only an engine can tell what they hold."""
        return tuple(expression for code in self._scripts.code for expression in states.deferred_expressions(code))

    @cached_property
    def nodes(self) -> tuple[DataNode, ...]:
        """Every object in terms of schema.org, as linked data: JSON-LD, microdata, then RDFa."""
        nodes = [DataNode("json-ld", node) for node in self.json_ld]
        nodes.extend(DataNode("microdata", schema_org.of_microdata(item)) for item in self.microdata)
        nodes.extend(DataNode("rdfa", schema_org.of_rdfa(item)) for item in self.rdfa)
        return tuple(nodes)

    def items(self) -> tuple[StructuredItem, ...]:
        """Return the structured data under the names of schema.org, cut where a page says too much.

        Last come the records of states that bear the page's title, under the names that the state gives them.
        """
        normaliser = schema_org.Normaliser(self.base, self.json_ld_by_id)
        graph = schema_org.of_open_graph(self.open_graph)
        nodes = [*self.nodes, *([DataNode("opengraph", graph)] if graph else [])]
        nodes.extend(DataNode("framework", record.node) for record in self.records[:MAX_GIVEN_RECORDS])
        items: list[StructuredItem] = []
        for node in nodes:
            if normaliser.characters_left <= 0 or len(items) >= MAX_GIVEN_ITEMS:
                break
            if properties := normaliser.properties(node.value):
                items.append(StructuredItem(type=_type(node), format=node.format, properties=properties))
        return tuple(items)

    def texts(self, evaluated: Sequence[Json] = ()) -> tuple[str, ...]:
        """Return the prose of the data, likeliest content first; `evaluated` are the values of what was `deferred`.

        That is bodies of articles, what products are described as, threads of several posts, states, descriptions.
        """
        nodes = [node.value for node in self.nodes]
        values = [*evaluated, *(state.value for state in self.states if prose.may_speak(state.name))]
        thread = prose.thread(nodes)
        groups = (
            prose.bodies(nodes),
            prose.descriptions(nodes, "Product"),
            [thread] if "\n" in thread else [],
            [thread, *(prose.of_state(value) for value in values)],
            [*prose.descriptions(nodes), *(value for name, value in self.open_graph if name == "og:description")],
        )
        ranked = (text for group in groups for text in sorted(group, key=len, reverse=True))
        return tuple(dict.fromkeys(text for text in ranked if len(text) >= MIN_TEXT_CHARS))[:MAX_TEXTS]

    @cached_property
    def _scripts(self) -> _Scripts:
        return _Scripts.of(self.root)


class _Scripts(Struct, frozen=True):
    """The scripts of a page by what they hold."""

    linked: list[str]
    data: list[tuple[Element, str]]
    code: list[str]

    @staticmethod
    def of(root: Element) -> _Scripts:
        scripts = _Scripts([], [], [])
        for script in root.iter_elements("script"):
            kind = (script.attr("type") or "").strip().lower()
            if "ld+json" in kind or kind == "application/json-ld":
                scripts.linked.append(script.text)
            elif states.holds_data(kind, script.attr("id") or ""):
                scripts.data.append((script, kind))
            elif (not kind or "script" in kind or kind == "module") and script.attr("src") is None:
                scripts.code.append(script.text)
        return scripts

    def states(self, root: Element) -> Iterator[FrameworkState]:
        """Read what holds a state, until as much is read as of one page may be."""
        left = states.MAX_TOTAL_CHARS
        yield from states.states_of_attributes(root)
        for script, kind in self.data:
            left -= len(script.text)
            if left > 0:
                yield from states.states_of_data_script(script, kind)
        yield from states.states_of_flight(
            script_values.flight_pushes(code for code in self.code if "__next_f" in code)
        )
        patience = script_values.Patience()
        for code in self.code:
            left -= len(code)
            if left > 0:
                yield from states.states_of_code(code, patience)


def _type(node: DataNode) -> str:
    """Return the type that an object says of itself: GraphQL has a name of its own for it."""
    named = node.value.get("__typename")
    return next(iter(schema_org.types(node.value)), "") or (named if isinstance(named, str) and named else "Thing")


def _is_within_measure(root: Element, attribute: str) -> bool:
    """Return whether the texts of all properties are of a size that may be copied: each of its names gets a copy."""
    left = MAX_PROPERTY_CHARS
    for element in root.select(f"[{attribute}]:not(meta)"):
        left -= len((element.attr(attribute) or "").split()) * len(element.text)
        if left < 0:
            return False
    return True
