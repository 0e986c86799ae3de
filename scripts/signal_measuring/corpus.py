"""The pages on which the signals are measured: those of the test site, around libraries, and on one feature each."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.site.apps import BROWSER_PAGES, FRAMEWORK_PAGES, build_apps
from tests.site.apps.building import Workshop, build

FOLDER = Path(__file__).parent / "corpus"
CORPUS = Workshop(FOLDER, "src", "/corpus")


class Kind(StrEnum):
    """What a page is about: an app, a feature that opens an article, or one that adds to an article."""

    APP = "app"
    GATE = "gate"
    ADDITION = "addition"


@dataclass(frozen=True)
class Sample:
    """A page; those of one `family` are alike, so that what one of them teaches must not be tried on another."""

    name: str
    path: str
    kind: Kind
    family: str


def samples() -> list[Sample]:
    """Build all pages and list them.

    Raises:
        NotBuiltError: nothing can be built here.
    """
    build_apps()
    dist = build(CORPUS)
    subprocess.run(["node", "features.mjs", str(dist)], cwd=FOLDER, check=True, timeout=60)  # noqa: S603, S607 - our own, by the PATH's node
    of_site = (*FRAMEWORK_PAGES.items(), *BROWSER_PAGES.items())
    site = [Sample(f"site.{name}", path, Kind.APP, _stem(name)) for name, path in of_site]
    names = sorted(entry.name for entry in dist.iterdir() if entry.name[0] != "." and (entry / "index.html").is_file())
    return site + [_sample(name) for name in names]


def _sample(name: str) -> Sample:
    first, _, rest = name.partition(".")
    kind = Kind(first) if first in (Kind.GATE, Kind.ADDITION) else Kind.APP
    return Sample(name, f"/corpus/{name}/", kind, _stem(rest))


def _stem(name: str) -> str:
    """Return what pages on the same thing have in common: `webgl` of `webgl2`, `recharts` of `recharts-fixed`."""
    return name.partition("-")[0].rstrip("0123456789")
