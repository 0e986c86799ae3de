"""The tools that a model may propose to call, and how a proposal is checked (003 "Tool call schema").

Nothing here runs anything: a proposal is data.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.documents import NonEmpty
from protocol.packets import ToolCall

Count = Annotated[int, Meta(ge=1, le=1_000_000)] | UnsetType
Handle = NonEmpty
Tags = tuple[NonEmpty, ...] | UnsetType


class ToolArguments(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """The arguments of a tool; a key that is not among them is refused."""


class WithoutArguments(ToolArguments, frozen=True, kw_only=True):
    """Takes nothing."""


class ObserveDom(ToolArguments, frozen=True, kw_only=True):
    """Read the page that is shown."""

    max_chars: Count = UNSET
    max_elements: Count = UNSET
    max_blocks: Count = UNSET
    max_primary_chars: Count = UNSET
    max_outline: Count = UNSET
    max_outline_chars: Count = UNSET
    max_items: Count = UNSET
    max_item_chars: Count = UNSET
    max_comments: Count = UNSET
    max_comment_chars: Count = UNSET
    root_handle_id: Handle | UnsetType = UNSET


class SelectionLinks(ToolArguments, frozen=True, kw_only=True):
    """Read the links of what is selected."""

    max_links: Count = UNSET


class ClickHandle(ToolArguments, frozen=True, kw_only=True):
    """Click an element."""

    handle_id: Handle


class TypeIntoHandle(ToolArguments, frozen=True, kw_only=True):
    """Type into a field."""

    handle_id: Handle
    text: str


class SelectOfHandle(ToolArguments, frozen=True, kw_only=True):
    """Choose an option of a list."""

    handle_id: Handle
    value: str


class ScrollBy(ToolArguments, frozen=True, kw_only=True):
    """Scroll down, or up by less than 0, in CSS pixels."""

    delta_y: float


class GoTo(ToolArguments, frozen=True, kw_only=True):
    """Go to an address."""

    url: NonEmpty


class SearchWeb(ToolArguments, frozen=True, kw_only=True):
    """Ask a search engine."""

    query: NonEmpty
    engine: NonEmpty | UnsetType = UNSET
    new_tab: bool | UnsetType = UNSET


class SaveArtifact(ToolArguments, frozen=True, kw_only=True):
    """Keep a text."""

    title: NonEmpty
    markdown: str
    tags: Tags = UNSET
    redaction: Literal["default", "none"] | UnsetType = UNSET


class ShareArtifact(ToolArguments, frozen=True, kw_only=True):
    """Hand a kept text out of the application."""

    artifact_id: NonEmpty
    format: Literal["markdown", "text", "json", "csv", "pdf"]
    filename: NonEmpty | UnsetType = UNSET
    target: Literal["share_sheet", "clipboard", "file"] | UnsetType = UNSET


class OpenArtifact(ToolArguments, frozen=True, kw_only=True):
    """Show a kept text."""

    artifact_id: NonEmpty
    target: Literal["workspace", "browser"] | UnsetType = UNSET
    new_tab: bool | UnsetType = UNSET


class InvokeIntegration(ToolArguments, frozen=True, kw_only=True):
    """Have another program do something."""

    integration: NonEmpty
    operation: NonEmpty
    payload: dict[str, Any]
    idempotency_key: NonEmpty | UnsetType = UNSET


class Calculate(ToolArguments, frozen=True, kw_only=True):
    """Compute an expression; `precision` is the number of decimals."""

    expression: NonEmpty
    precision: float | UnsetType = UNSET


class CreateCollection(ToolArguments, frozen=True, kw_only=True):
    """Begin a collection of sources."""

    title: NonEmpty
    tags: Tags = UNSET


class UrlItem(ToolArguments, frozen=True, kw_only=True, tag_field="type", tag="url"):
    """A page as a source."""

    url: NonEmpty
    title: str | UnsetType = UNSET


class NoteItem(ToolArguments, frozen=True, kw_only=True, tag_field="type", tag="note"):
    """Words of the user as a source."""

    text: str
    title: str | UnsetType = UNSET


class AddSources(ToolArguments, frozen=True, kw_only=True):
    """Add sources to a collection."""

    collection_id: NonEmpty
    sources: tuple[UrlItem | NoteItem, ...]


class OfCollection(ToolArguments, frozen=True, kw_only=True):
    """Names a collection."""

    collection_id: NonEmpty


class CaptureSource(ToolArguments, frozen=True, kw_only=True):
    """Read a page into a collection."""

    collection_id: NonEmpty
    url: NonEmpty
    mode: Literal["auto", "article", "list"] | UnsetType = UNSET
    max_chars: Count = UNSET


class RefreshSource(ToolArguments, frozen=True, kw_only=True):
    """Read a source anew."""

    source_id: NonEmpty


class RunTransform(ToolArguments, frozen=True, kw_only=True):
    """Make a text of a kind out of a collection."""

    collection_id: NonEmpty
    type: NonEmpty
    config: dict[str, Any] | UnsetType = UNSET


TOOLS: Mapping[str, type[ToolArguments]] = MappingProxyType(
    {
        "browser.observe_dom": ObserveDom,
        "browser.get_selection_links": SelectionLinks,
        "browser.click": ClickHandle,
        "browser.type": TypeIntoHandle,
        "browser.select": SelectOfHandle,
        "browser.scroll": ScrollBy,
        "browser.open_tab": GoTo,
        "browser.navigate": GoTo,
        "browser.back": WithoutArguments,
        "browser.forward": WithoutArguments,
        "browser.refresh": WithoutArguments,
        "search": SearchWeb,
        "artifact.save": SaveArtifact,
        "artifact.share": ShareArtifact,
        "artifact.open": OpenArtifact,
        "integration.invoke": InvokeIntegration,
        "app.calculate": Calculate,
        "collection.create": CreateCollection,
        "collection.add_sources": AddSources,
        "collection.list_sources": OfCollection,
        "source.capture": CaptureSource,
        "source.refresh": RefreshSource,
        "transform.list_types": WithoutArguments,
        "transform.run": RunTransform,
    }
)
"""Every tool by its name, with its arguments."""


def arguments_of(call: ToolCall) -> ToolArguments:
    """Return the arguments of a proposal as their type.

    Raises:
        ValueError: there is no such tool, or its arguments are others.
    """
    kind = TOOLS.get(call.name)
    if kind is None:
        msg = f"there is no tool {call.name!r}"
        raise ValueError(msg)
    try:
        return msgspec.convert(call.arguments, kind)
    except msgspec.ValidationError as error:
        msg = f"{call.name}: {error}"
        raise ValueError(msg) from None
