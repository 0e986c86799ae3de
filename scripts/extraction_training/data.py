"""Reads the pages and gold answers that the extraction is trained and measured on."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import tldextract

FOLDS = 5

CONTENT_SETS = ("wcxb_dev", "scrapinghub", "aed", "readability", "magic_forum", "magic_article", "daniel", "zh69")
"""The sets whose gold holds the whole text of the main content."""

MEAN_SETS = CONTENT_SETS[:5]
"""The sets that the mean is of, so that it can be held against earlier ones: nearly all of them English."""

LANGUAGE_SETS = CONTENT_SETS[5:]
"""The sets that were gathered for their languages: articles alone."""

_HOST_IN_ID = re.compile(r"\d{8}_([^_]+\.[a-z]{2,})_")
"""Pages of news that came without an address have the day and the host in their id."""

_LINK = re.compile(rb"""(?:href|src)=["']?https?://([^/"'\s>:]+)""", re.IGNORECASE)

# The list that the package carries: nothing is fetched.
_domains = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


class GoldPage(msgspec.Struct, frozen=True):
    """A page with its gold answers: `gold` as the data has it (text, title, author, date, lang, md, product, type)."""

    dataset: str
    id: str
    url: str
    gold: dict[str, Any]
    path: Path

    @property
    def name(self) -> str:
        """Its id over all data sets."""
        return f"{self.dataset}__{self.id}"

    def body(self) -> bytes:
        """Read the page as it came."""
        return gzip.decompress(self.path.read_bytes())

    def domain(self) -> str:
        """Return the domain that was registered for its site; for an archived page that of the original.

        A page that came without an address is taken for one of the site that it links to most.
        """
        address = self.url or self._likely_address()
        if "web.archive.org/web/" in address:
            address = "http" + address.rpartition("http")[2]
        found = _domains(address).top_domain_under_public_suffix
        return found or urlsplit(address).hostname or self.name

    def _likely_address(self) -> str:
        if named := _HOST_IN_ID.match(self.id):
            return f"http://{named[1]}/"
        hosts = (match[1].decode("ascii", "ignore") for match in _LINK.finditer(self.body()))
        linked = Counter(_domains(host).top_domain_under_public_suffix for host in hosts)
        del linked[""]
        return f"http://{min(linked, key=lambda one: (-linked[one], one))}/" if linked else ""

    def fold(self, split: str = "") -> int:
        """Return the fold of its domain, from 0; another `split` gives other folds."""
        digest = hashlib.sha256(f"{split}{self.domain()}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % FOLDS


def pages(data_dir: Path, *datasets: str) -> Iterator[GoldPage]:
    """Return every page of some data sets (of all, when none is named), in the order of the data."""
    root = data_dir if (data_dir / "wcxb_dev").is_dir() else data_dir / "extraction"
    for dataset in datasets or tuple(sorted(path.name for path in root.iterdir() if path.is_dir())):
        for line in (root / dataset / "gold.jsonl").read_bytes().splitlines():
            gold = msgspec.json.decode(line, type=dict[str, Any])
            path = root / dataset / "html" / f"{gold['id']}.html.gz"
            yield GoldPage(dataset, str(gold["id"]), str(gold.get("url") or ""), gold, path)
