"""Knows which document each frame of a page holds: by what was handed to the engine, as the page may lie about it."""

from __future__ import annotations

from typing import Any

from actors.fetchers.lightweight.origins import of_site, origin, site

NOWHERE = ""
"""The address of a document that belongs to nobody."""

_DATA = "data:"


class Frames:
    """The frames of one page; told of every event in the order in which it came."""

    def __init__(self, main: str) -> None:
        """Know the main frame alone."""
        self.main = main
        self._documents: dict[str, str] = {}
        self._parents: dict[str, str] = {}
        self._coming: dict[str, str] = {}

    def handed(self, loader: str, url: str) -> None:
        """Note the document that was handed over: it is the frame's from `navigated` on, until then the former is."""
        self._coming[loader] = url

    def attached(self, params: dict[str, Any]) -> None:
        """Take Page.frameAttached."""
        self._parents[str(params.get("frameId"))] = str(params.get("parentFrameId"))

    def navigated(self, params: dict[str, Any]) -> None:
        """Take Page.frameNavigated."""
        frame = params.get("frame", {})
        name, url = str(frame.get("id")), str(frame.get("url", ""))
        coming = self._coming.pop(str(frame.get("loaderId")), None)
        if coming is not None:
            self._documents[name] = coming
        elif url.startswith(_DATA):
            self._documents[name] = NOWHERE
        # about:blank and srcdoc keep the origin of who was there, or of the parent.

    def document(self, frame: str) -> str:
        """Return the address of the document in a frame, or of the one that it has its origin from."""
        seen: set[str] = set()
        while frame not in self._documents and frame in self._parents and frame not in seen:
            seen.add(frame)
            frame = self._parents[frame]
        return self._documents.get(frame, NOWHERE)

    def known(self, frame: str) -> bool:
        """Whether a frame is part of the page, and no window that it has opened."""
        return frame == self.main or frame in self._parents

    def within(self, frame: str, own: str) -> bool:
        """Whether a frame and all that it lies in belong to the site `own`."""
        seen: set[str] = set()
        while frame not in seen:
            seen.add(frame)
            document = self.document(frame)
            if not of_site(site(document), own):
                return False
            if frame not in self._parents:
                return frame == self.main
            frame = self._parents[frame]
        return False

    def origin(self, frame: str) -> str:
        """Return the origin of a frame's document."""
        return origin(self.document(frame))
