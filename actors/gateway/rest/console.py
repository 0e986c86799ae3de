"""The console: the files that a browser loads of it, by a table of all that there are; they are open to all."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from anyio import to_thread
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from actors.gateway.http import FRONT, not_allowed, nothing_here, refusal

FOLDER = Path(__file__).parents[1] / "console"
INDEX = "index.html"
_PREFIX = "/console/"

PACKAGED: Mapping[str, str] = MappingProxyType(
    {
        "htm.js": "node_modules/htm/preact/standalone.module.js",
        "marked.js": "node_modules/marked/lib/marked.esm.js",
        "uplot.js": "node_modules/uplot/dist/uPlot.iife.min.js",
        "uplot.css": "node_modules/uplot/dist/uPlot.min.css",
    }
)
"""What is served of packages, by the name that it is served by; npm puts it there (`scripts/_console.sh`)."""

_OWN = (
    *("console.css", "weft.svg", "main.js", "api.js", "router.js", "parts.js", "markdown.js", "charts.js", "system.js"),
    "virtual.js",
    *(f"pages/{name}.js" for name in ("actors", "approvals", "bus", "conversations", "home", "keys", "page")),
    *(f"pages/{name}.js" for name in ("patterns", "recordings", "routes", "run", "runs", "settings", "tap")),
    "diff.js",
    "graph.js",
    *(f"pages/{name}.js" for name in ("browsers", "collections", "crawls", "logins", "source", "visits")),
)
FILES: Mapping[str, str] = MappingProxyType({**{name: name for name in _OWN}, **PACKAGED})
"""Each file of the console below /console/, and where it lies."""

HOMES = (_PREFIX.rstrip("/"), _PREFIX)
"""Where people look for the console, which is at `/`."""

PATHS = frozenset((*HOMES, *(_PREFIX + name for name in FILES)))

_MEDIA: Mapping[str, str] = MappingProxyType(
    {
        ".css": "text/css; charset=utf-8",
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".svg": "image/svg+xml",
    }
)
HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "object-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",
    }
)
_LEADS_ON = {"Cache-Control": "no-cache"}


class _Asset(Struct, frozen=True):
    """A file as it is sent; `stamp` tells whether it has changed since."""

    stamp: tuple[int, int]
    plain: bytes
    packed: bytes
    tag: str


@dataclass(frozen=True)
class ConsoleFiles:
    """The files of the console, each read when it is first asked for and when it has changed."""

    folder: Path
    _assets: dict[str, _Asset] = field(default_factory=dict[str, _Asset], init=False, repr=False)

    async def complete(self) -> bool:
        """Return whether the packages are there, without which a browser could show nothing."""
        return await to_thread.run_sync(lambda: all((self.folder / path).is_file() for path in PACKAGED.values()))

    async def response(self, path: str, request: Request) -> Response:
        """Return a file, or 304 for a browser that has it.

        Raises:
            FileNotFoundError: it is one of a package, and npm has not put it there.
        """
        asset = await to_thread.run_sync(self._read, path)
        packs = "gzip" in request.headers.get("accept-encoding", "")
        tag = f'"{asset.tag}-gz"' if packs else f'"{asset.tag}"'
        headers = {**HEADERS, "ETag": tag, "Vary": "Accept, Accept-Encoding"}
        if tag in {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}:
            return Response(status_code=304, headers=headers)
        if packs:
            headers["Content-Encoding"] = "gzip"
        body = asset.packed if packs else asset.plain
        return Response(body, headers=headers, media_type=_MEDIA[Path(path).suffix])

    def _read(self, path: str) -> _Asset:
        file = self.folder / path
        about = file.stat()
        stamp = (about.st_mtime_ns, about.st_size)
        known = self._assets.get(path)
        if known is None or known.stamp != stamp:
            plain = file.read_bytes()
            packed = gzip.compress(plain, mtime=0)
            known = self._assets[path] = _Asset(stamp, plain, packed, hashlib.sha256(plain).hexdigest()[:32])
        return known


class ConsoleFile(Struct, frozen=True):
    """ASGI: one file of the console."""

    files: ConsoleFiles
    path: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; a package that is not there is a 404."""
        request = Request(scope)
        if request.method not in {"GET", "HEAD"}:
            response = refusal(not_allowed("GET"))
        else:
            try:
                response = await self.files.response(self.path, request)
            except FileNotFoundError:
                response = refusal(nothing_here())
        await response(scope, receive, send)


async def _redirect(scope: Scope, receive: Receive, send: Send) -> None:
    """ASGI: send a browser to the console; what stands behind # it takes along."""
    allowed = scope["method"] in {"GET", "HEAD"}
    response = RedirectResponse(FRONT, headers=_LEADS_ON) if allowed else refusal(not_allowed("GET"))
    await response(scope, receive, send)


def console_files(files: ConsoleFiles) -> dict[str, ASGIApp]:
    """Return what answers at /console and at each path below it."""
    return {
        **dict.fromkeys(HOMES, _redirect),
        **{_PREFIX + name: ConsoleFile(files, path) for name, path in FILES.items()},
    }
