"""Reads the labelled pages that the judge is trained and measured on, as the claims that the verifier gets."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from actors.extraction.extraction import Extraction
from actors.extraction.page import extract
from actors.extraction.parse.charset import decode
from protocol.browse import MIN_CONTENT_CHARS
from protocol.confidence import overall
from protocol.documents import Document, WebObservationSummary, untrusted
from protocol.page import PageKind
from protocol.pages import PageClaim
from protocol.tiers import RenderTier
from scripts.extraction_training.data import GoldPage
from scripts.extraction_training.data import pages as gold_pages

FOLDS = 5
WORKERS = 4
"""Processes that read and fit: the figures are the same with any number."""

MADE_UP_WEIGHT = 0.2
"""What a page counts that was made up, or cut."""

_LOOKALIKES, _LOOKALIKE_WEIGHT = frozenset({"about_errors", "short", "home", "asked_login"}), 3.0
"""Healthy pages that look like stand-ins, of which there are few, and what one of them counts."""

_AT_ONCE = 16
_ONE_IN = 4
_NOWHERE = "https://site.example/"
_PARTS = re.compile(r"<(p|li|td|blockquote|pre|dd)\b[^>]*>.*?</\1>", re.DOTALL)
_KEPT = {"p": 1, "li": 12, "td": 4, "blockquote": 0, "pre": 0, "dd": 0}
_LEAST_CHARS = 40
_OPENING_CHARS = 3_500
HEALTHY = "healthy"
_KINDS = {"offline_page": PageKind.OFFLINE}
_MISLABELLED = {
    "9af1ef21e5cb": "challenge",
    "b459addb3be6": "age_gate",
    "32fa040b7cb9": "age_gate",
    "6928850201c9": "age_gate",
}
"""What is labelled as healthy and is none by its own words: "Performing security verification … Ray ID" with the marks
of Cloudflare, and three that ask for an age ("¿Confirmas que tienes +18 años", "Please verify that you are 21 years or
older", "Verificação de Idade")."""

_STATUSES = {
    PageKind.NOT_FOUND: 404,
    PageKind.GONE: 410,
    PageKind.SERVER_ERROR: 500,
    PageKind.MAINTENANCE: 503,
    PageKind.FORBIDDEN: 403,
    PageKind.RATE_LIMITED: 429,
    PageKind.GEO_BLOCKED: 451,
    PageKind.CHALLENGE: 403,
}


@dataclass(frozen=True)
class Example:
    """A page as it is judged: `kind` is None for a healthy one, `group` the site or design that is held out.

    `status` is the one that the page is written for, `extraction` how sure the title and content are (0 to 1).
    """

    id: str
    kind: PageKind | None
    subtype: str
    language: str
    group: str
    status: int
    claim: PageClaim
    extraction: float
    weight: float = 1.0
    made_up: bool = False

    @property
    def fold(self) -> int:
        """The fold of its group, from 0."""
        return int.from_bytes(hashlib.sha256(self.group.encode()).digest()[:8], "big") % FOLDS


def examples(verdict_dir: Path, extraction_dir: Path) -> list[Example]:
    """Return the labelled pages, then the healthy pages of the extraction corpora that are not among them.

    Last come some of those cut short, for training alone.
    """
    records = [json.loads(line) for line in (verdict_dir / "labels.jsonl").read_text().splitlines()]
    used = {record["source"].split(" ")[0] for record in records}
    gold = [page for page in gold_pages(extraction_dir) if f"{page.dataset}:{page.id}" not in used]
    with ProcessPoolExecutor(WORKERS) as pool:
        labelled = pool.map(partial(_labelled, folder=verdict_dir), records, chunksize=_AT_ONCE)
        healthy = pool.map(_healthy, gold, chunksize=_AT_ONCE)
        short = pool.map(_cut_short, gold[::_ONE_IN], chunksize=_AT_ONCE)
        return [*labelled, *healthy, *filter(None, short)]


def _healthy(page: GoldPage) -> Example:
    claim, sure = claim_of(page.body(), page.url or _NOWHERE, "text/html")
    return Example(page.name, None, "corpus", str(page.gold.get("lang") or "und"), page.domain(), 200, claim, sure)


def _cut_short(page: GoldPage) -> Example | None:
    """Return a healthy page with the first of its paragraphs and items alone, if it then is short."""
    left = Counter[str]()

    def cut(match: re.Match[str]) -> str:
        left[match[1]] += 1
        return match[0] if left[match[1]] <= _KEPT[match[1]] else ""

    whole = _PARTS.sub(cut, decode(page.body(), "text/html")[0])
    claim, sure = claim_of(whole.encode(), page.url or _NOWHERE, "text/html; charset=utf-8")
    if not _LEAST_CHARS < claim.evidence.content_length < MIN_CONTENT_CHARS:
        return None
    return Example(
        f"{page.name}_short",
        None,
        "made_up",
        str(page.gold.get("lang") or "und"),
        page.domain(),
        200,
        claim,
        sure,
        weight=MADE_UP_WEIGHT,
        made_up=True,
    )


def _labelled(record: dict[str, str], folder: Path) -> Example:
    label = _MISLABELLED.get(record["id"], record["label"])
    kind = None if label == HEALTHY else _KINDS.get(label) or PageKind(label)
    body = gzip.decompress((folder / "html" / f"{record['id']}.html.gz").read_bytes())
    host = hashlib.sha256(record["site"].encode()).hexdigest()[:8]
    claim, sure = claim_of(body, f"https://{host}.example/{record['url_path'].lstrip('/')}")
    status = int(record["status"]) if record.get("status") else _STATUSES.get(kind, 200) if kind else 200
    subtype = (record.get("subtype") or "") if kind is None else ""
    return Example(
        record["id"],
        kind,
        subtype,
        record["language"],
        record["site"],
        status,
        claim,
        sure,
        weight=_LOOKALIKE_WEIGHT if subtype in _LOOKALIKES else 1.0,
    )


def claim_of(body: bytes, url: str, content_type: str = "text/html") -> tuple[PageClaim, float]:
    """Return what the verifier gets of a page that came with status 200, and how sure extraction is of its words."""
    found: Extraction = extract(body, content_type, url)
    claim = PageClaim(
        url=url,
        final_url=url,
        status=200,
        tier=RenderTier.INTELLIGENCE,
        evidence=found.evidence,
        opening=_opening(found.summary),
    )
    return claim, overall(found.title, found.content, 1.0).score


def _opening(summary: WebObservationSummary) -> Document[WebObservationSummary]:
    markdown = summary.markdown[:_OPENING_CHARS]
    return untrusted("page", WebObservationSummary(url=summary.url, title=summary.title[:500], markdown=markdown))
