"""Measures verdicts: what was given that is no page, what was refused that is one, and whether probabilities hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import structs

from actors.verdicts.kinds import CODES
from actors.verifier.model import Assessment
from actors.verifier.rules import judge
from protocol.faults import KINDS, Code
from protocol.pages import PageClaim, Verdict
from scripts.extraction_training.scoring import Calibration, calibration
from scripts.judge_training.data import Example

CERTIFIED, DOUBTED = 0.7, 0.5
SENT_ON = frozenset({Code.CONTENT_TOO_SHORT, Code.CONTENT_REQUIRES_JS})
"""What another tier is asked about: usable, it is given where none is left."""

_OF_STATUS = {401: (Code.AUTH_MISSING_SESSION,), 407: (Code.HTTP_PROXY_REFUSED, Code.AUTH_MISSING_SESSION)}
"""Codes of statuses that the labels call forbidden."""


@dataclass(frozen=True)
class Judged:
    """An example with its verdict, and the overall confidence that its answer would have."""

    example: Example
    verdict: Verdict
    overall: float

    @property
    def given(self) -> bool:
        """Whether the page is given in the end."""
        code = self.verdict.code
        return code is None or (self.verdict.usable and code in SENT_ON)

    @property
    def right_kind(self) -> bool:
        """Whether it is refused with a code whose first action is that of the right one."""
        code, kind = self.verdict.code, self.example.kind
        if self.given or code is None or kind is None:
            return False
        return code in _OF_STATUS.get(self.example.status, ()) or _first(code) == _first(CODES[kind])


def _first(code: Code) -> str:
    actions = sorted(KINDS[code].actions, key=lambda action: action.priority)
    return actions[0].action if actions else code.value


def verdicts(judged: Iterable[tuple[Example, Assessment]], *, true_status: bool = False) -> list[Judged]:
    """Judge examples by the rules and the given assessments, with status 200 or with the true one."""
    return [_verdict(example, assessment, true_status=true_status) for example, assessment in judged]


def _verdict(example: Example, assessment: Assessment, *, true_status: bool) -> Judged:
    claim = structs.replace(example.claim, status=example.status) if true_status else example.claim

    def assess(_: PageClaim) -> Assessment:
        return assessment

    verdict = judge(claim, assess)
    return Judged(example, verdict, example.extraction * verdict.probability)


@dataclass(frozen=True)
class Figures:
    """Shares of the stand-ins and of the healthy pages (0 to 1; NaN where there are none)."""

    stand_ins: int
    healthy: int
    certified: float
    right_kind: float
    refused: float
    doubted: float


def figures(judged: Sequence[Judged]) -> Figures:
    """Measure some verdicts."""
    bad = [one for one in judged if one.example.kind is not None]
    good = [one for one in judged if one.example.kind is None]
    return Figures(
        stand_ins=len(bad),
        healthy=len(good),
        certified=_share(bad, lambda one: one.given and one.overall >= CERTIFIED),
        right_kind=_share(bad, lambda one: one.right_kind),
        refused=_share(good, lambda one: not one.given),
        doubted=_share(good, lambda one: one.overall < DOUBTED),
    )


def _share(judged: Sequence[Judged], holds: Callable[[Judged], bool]) -> float:
    return sum(map(holds, judged)) / len(judged) if judged else float("nan")


def probabilities(judged: Sequence[Judged]) -> Calibration:
    """Hold the probabilities against what the pages are."""
    return calibration([(one.verdict.probability, float(one.example.kind is None)) for one in judged])


def overalls(judged: Sequence[Judged]) -> Calibration:
    """Hold the overall confidence of all answers against what the pages are; what is refused has that of its page."""
    return calibration([(one.overall, float(one.example.kind is None)) for one in judged])


def groups(judged: Sequence[Judged], name: Callable[[Example], str]) -> Mapping[str, list[Judged]]:
    """Return the verdicts by a name of their examples, in the order of the names."""
    by_name: dict[str, list[Judged]] = {}
    for one in judged:
        by_name.setdefault(name(one.example), []).append(one)
    return dict(sorted(by_name.items()))


def kind_name(example: Example) -> str:
    """Return the kind of a stand-in, or the subtype of a healthy page."""
    return example.kind.value if example.kind else f"healthy: {example.subtype}"


def language_group(example: Example) -> str:
    """Return English, another European language in Latin letters, another script, or unknown."""
    language = example.language.split("-")[0]
    if language in ("en", "und", ""):
        return language or "und"
    others = frozenset({"zh", "ja", "ko", "ru", "uk", "bg", "sr", "el", "ar", "he", "fa", "hi", "th", "ka", "hy"})
    return "other scripts" if language in others else "other languages in Latin letters"
