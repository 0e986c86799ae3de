"""Reads in Chromium what the pages show, and keeps it for as long as the pages stay the same."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
from msgspec import Struct

from scripts.signal_measuring.corpus import CORPUS, Sample
from scripts.signal_measuring.each import each
from tests.site import Site
from tests.site.apps import build_apps
from tests.site.apps.chromium import open_chromium

_KEPT = CORPUS.folder / ".chromium.json"
_AT_ONCE = 6
_QUIET_SECONDS = 1.8
"""What comes up to so long after everything else belongs to the page."""


class Reference(Struct, frozen=True):
    """What a page showed when its files had this digest."""

    digest: str
    text: str


async def references(site: Site, samples: list[Sample]) -> dict[str, str]:
    """Return the text that Chromium shows of each page, by name; what has not changed is not shown again."""
    kept = msgspec.json.decode(_KEPT.read_bytes(), type=dict[str, Reference]) if _KEPT.is_file() else {}
    digests = {sample.name: _digest(sample) for sample in samples}
    known = {name: kept[name] for name in digests if name in kept and kept[name].digest == digests[name]}
    missing = [sample for sample in samples if sample.name not in known]
    if missing:
        async with open_chromium() as chromium:
            texts = await each(missing, lambda sample: chromium.text(site.url(sample.path), _QUIET_SECONDS), _AT_ONCE)
        known |= {name: Reference(digests[name], text) for name, text in texts.items()}
        _KEPT.write_bytes(msgspec.json.encode(known))
    return {name: reference.text for name, reference in known.items()}


def _digest(sample: Sample) -> str:
    """Return the digest of everything that was built for a page."""
    _, prefix, name, *_ = sample.path.split("/")
    folder = Path(build_apps() if prefix == "apps" else CORPUS.dist, name)
    digest = hashlib.blake2b(digest_size=12)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.read_bytes())
    return digest.hexdigest()
