"""The tools of collections, their sources, what is made of them, and the texts that are kept (003 "Collections")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from protocol.access import Scope
from protocol.collections import CaptureChars
from protocol.documents import NonEmpty
from protocol.shapes import Worded
from protocol.tools.tool import Risk, Tool, ToolArguments, WithoutArguments, by_name

RUNNER: Final = "runner"
"""Who runs them, as its subject names it."""

Tags = tuple[Worded, ...] | UnsetType


class CreateCollection(ToolArguments, frozen=True, kw_only=True):
    """Begin a collection of sources."""

    title: Worded
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
    max_chars: CaptureChars | UnsetType = UNSET


class RefreshSource(ToolArguments, frozen=True, kw_only=True):
    """Read a source anew."""

    source_id: NonEmpty


class RunTransform(ToolArguments, frozen=True, kw_only=True):
    """Make a text of a kind out of a collection."""

    collection_id: NonEmpty
    type: NonEmpty
    config: dict[str, Any] | UnsetType = UNSET


class SaveArtifact(ToolArguments, frozen=True, kw_only=True):
    """Keep a text."""

    title: Worded
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


class WatchCollection(ToolArguments, frozen=True, kw_only=True):
    """Refresh the pages of a collection again and again; `every` is a number and m, h or d, null ends it."""

    collection_id: NonEmpty
    every: Annotated[str, Meta(pattern=r"^[1-9][0-9]{0,3}[mhd]$(?!\n)")] | None
    webhook: NonEmpty | UnsetType = UNSET
    """The integration that is told of changes."""


class OfSource(ToolArguments, frozen=True, kw_only=True):
    """Names a source."""

    source_id: NonEmpty


class OfArtifact(ToolArguments, frozen=True, kw_only=True):
    """Names a kept text."""

    artifact_id: NonEmpty


def _tool(name: str, arguments: type[ToolArguments], risk: Risk, description: str, **more: Any) -> Tool[Any]:
    return Tool(
        name=name,
        arguments=arguments,
        risk=risk,
        description=description,
        scope=Scope.COLLECTIONS,
        actor=RUNNER,
        **more,
    )


COLLECTION_TOOLS: Final[Mapping[str, Tool[Any]]] = by_name(
    _tool("collection.create", CreateCollection, Risk.COLLECT, "Begin a collection of sources."),
    _tool(
        "collection.add_sources", AddSources, Risk.COLLECT, "Add pages and notes to a collection; pages are captured."
    ),
    _tool("collection.list_sources", OfCollection, Risk.COLLECT, "List the sources of a collection.", idempotent=True),
    _tool("collection.watch", WatchCollection, Risk.COLLECT, "Refresh a collection on schedule.", proposable=False),
    _tool("collection.delete", OfCollection, Risk.DELETE, "Delete a collection with its sources.", proposable=False),
    _tool("source.capture", CaptureSource, Risk.COLLECT, "Read a page into a collection, and return it."),
    _tool("source.refresh", RefreshSource, Risk.COLLECT, "Read a source anew, and say what has changed."),
    _tool("source.delete", OfSource, Risk.DELETE, "Delete a source.", proposable=False),
    _tool(
        "transform.list_types",
        WithoutArguments,
        Risk.COLLECT,
        "List what can be made of a collection.",
        idempotent=True,
    ),
    _tool("transform.run", RunTransform, Risk.COLLECT, "Make a text of a kind out of a collection."),
    _tool("artifact.save", SaveArtifact, Risk.COLLECT, "Keep a text."),
    _tool("artifact.open", OpenArtifact, Risk.COLLECT, "Show a kept text.", idempotent=True),
    _tool("artifact.share", ShareArtifact, Risk.SHARE, "Hand a kept text out, in a format."),
    _tool("artifact.delete", OfArtifact, Risk.DELETE, "Delete a kept text.", proposable=False),
)
"""Every tool of collections by its name."""
