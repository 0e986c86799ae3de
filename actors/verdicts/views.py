"""What the rules look at, and what they say."""

from __future__ import annotations

import re
from functools import cached_property
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from actors.verdicts.kinds import CODES
from protocol.browse import MIN_CONTENT_CHARS, ValidationDetails
from protocol.faults import Code
from protocol.page import PageKind
from protocol.pages import PageClaim, PageEvidence, Verdict


class Finding(Struct, frozen=True):
    """What a rule says: accepted when `code` is None."""

    code: Code | None
    reason: str = ""
    usable: bool = False
    kind: PageKind | None = None
    probability: float = 0.0
    walls: tuple[PageKind, ...] = ()
    doubtful: bool = False
    vendor: str = ""


class ClaimView(Struct, frozen=True, dict=True):
    """A claim as the rules look at it."""

    claim: PageClaim

    @cached_property
    def words(self) -> str:
        """Its title and first words, case folded, with one kind of apostrophe and space."""
        content = self.claim.opening.content
        return _plain(f"{content.title} {content.markdown}")

    @property
    def evidence(self) -> PageEvidence:
        """What the fetcher observed."""
        return self.claim.evidence

    @property
    def status(self) -> int:
        """The status that the page came with."""
        return self.claim.status

    @property
    def length(self) -> int:
        """The characters of its content."""
        return self.claim.evidence.content_length

    @property
    def short(self) -> bool:
        """Whether it has less content than most pages."""
        return self.length < MIN_CONTENT_CHARS

    @property
    def ok(self) -> bool:
        """Whether the site itself says that this is the page."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def scripted(self) -> bool:
        """Whether the tier ran the page's scripts."""
        return self.claim.tier.spec.runs_scripts

    @property
    def rendered(self) -> bool:
        """Whether a real browser ran the scripts, so that there is nothing more to come."""
        return self.claim.tier.spec.is_browser

    def verdict(self, finding: Finding) -> Verdict:
        """Return what was found as the answer of whoever judged."""
        return Verdict(
            details=ValidationDetails(
                content_length=self.length,
                has_semantic_markers=bool(self.evidence.semantic),
                has_incomplete_markers=bool(self.evidence.incomplete),
                meets_min_length=not self.short,
            ),
            code=finding.code,
            usable=finding.usable,
            reasons=(finding.reason,) if finding.reason else (),
            kind=finding.kind,
            probability=finding.probability,
            walls=finding.walls,
            doubtful=finding.doubtful,
            vendor=finding.vendor,
        )


def _plain(text: str) -> str:
    return " ".join(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").replace("\\", "").casefold().split())


def refused(page: ClaimView, kind: PageKind, reason: str, probability: float = 0.0, **more: Any) -> Finding:
    """Return the finding that something of this kind stands in the place of the page."""
    code = CODES[kind]
    if kind is PageKind.LOGIN_WALL and page.claim.session:
        code = Code.AUTH_SESSION_EXPIRED
    elif kind is PageKind.EMPTY_SHELL and page.rendered:
        code = Code.CONTENT_EMPTY
    return Finding(code, reason, kind=kind, probability=probability, **more)


def remark(page: ClaimView) -> str:
    """Return what is worth a word of a page that is accepted."""
    evidence = page.evidence
    if evidence.incomplete:
        return f"Whole, though it has marks of loading ({', '.join(evidence.incomplete)})"
    if evidence.cut_short:
        return f"The page was cut short ({evidence.cut_short})"
    if not page.short:
        return ""
    if not evidence.markup:
        return f"Short but whole: not a page with markup ({page.length} chars)"
    if page.scripted:
        return f"Short after its scripts have run ({page.length} chars)"
    return f"Short but whole: the page has no scripts ({page.length} chars)"


_INDEX = re.compile(r"(index|default|home|main)(\.\w+)?", re.IGNORECASE)


def segments(url: SplitResult) -> list[str]:
    """Return the parts of a path, without an index at its end."""
    segments = [segment for segment in url.path.split("/") if segment]
    return segments[:-1] if segments and _INDEX.fullmatch(segments[-1]) else segments


def same_site(requested: str | None, got: str | None) -> bool:
    """Return whether a host is the other, or lies within it."""
    one, other = (host.removeprefix("www.") if host else "" for host in (requested, got))
    return one == other or one.endswith(f".{other}") or other.endswith(f".{one}")


def split(url: str) -> SplitResult:
    """Take an address apart; what is none has no parts."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")
