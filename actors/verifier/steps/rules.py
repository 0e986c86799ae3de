"""The verdict about a step without a model: what it left on the page, weighed with what its client has seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from actors.verifier.steps import aim, expectations
from actors.verifier.steps.attribution import StepEvidence
from actors.verifier.steps.bands import PROBABILITIES, StepBand, StepFinding
from actors.verifier.steps.blockers import blocker_of
from actors.verifier.steps.effects import READS, SERVED, client_saw, effect
from actors.verifier.steps.refusals import may_be_refused, refusal
from protocol.acting.steps import SUCCESS_CONFIDENCE, Blocker, BlockerKind, StepClaim, StepVerdict, VerificationTier

NOT_FOUND_CAP: Final = 0.6
"""No surer where a client did not find what it was to act on (001, client evidence)."""

NEXT_MISSING_CAP: Final = 0.1
WITNESSED, HALF_WITNESSED = 0.8, 0.72
"""At least so sure where a client saw what is gone again: a message of success; or a request and a change (not at the
end of a task, where that is not enough)."""

NEXT_MISSING: Final = "What the next step is about is not there."

_WEAK = frozenset(
    {
        StepBand.APPEARED_ELSEWHERE,
        StepBand.SWAPPED_NEAR,
        StepBand.NEAR_CHANGED,
        StepBand.NAMED_CHANGED,
        StepBand.CHANGED_ELSEWHERE,
        StepBand.TARGET_CHANGED,
        StepBand.ANSWERED,
        StepBand.REACHED_SWAPPED,
    }
    | {StepBand.SEEN_BY_CLIENT, StepBand.TARGET_GONE, StepBand.LOADING}
)
"""Findings that say less than what was expected, or that the next step can go on."""

MAX_QUOTED_CHARS = 200
"""What is quoted of what a client says."""

_LIKELY = 0.5
_UNSEEN = frozenset({StepBand.NOTHING, StepBand.SEEN_BY_CLIENT, StepBand.AMBIENT, StepBand.CHANGED_ELSEWHERE})
_EXACT = frozenset({StepBand.AS_WANTED, StepBand.THERE})
_PRESSED = frozenset({StepBand.TARGET_CHANGED, StepBand.ANSWERED})
"""What a button shows while it is held down, too."""

_REFUSING = frozenset({BlockerKind.LOGIN_FAILED, BlockerKind.RATE_LIMIT, BlockerKind.ACCESS_DENIED})
_NOT_MOVING = frozenset({"scroll", "scroll_container", "wait"}) | READS | SERVED


@dataclass
class Weighing:
    """How probable it is that a step did what was wanted, while one thing after the other is weighed."""

    probability: float
    evidence: list[str] = field(default_factory=list[str])
    refusal: str = ""

    def at_most(self, limit: float, why: str) -> None:
        """Be no surer than a limit."""
        self.evidence.append(why)
        self.probability = min(self.probability, limit)

    def refuse(self, why: str) -> None:
        """Be sure that it was not done, as the page says so."""
        self.refusal = why
        self.probability = min(self.probability, PROBABILITIES[StepBand.ERROR])

    def at_least(self, limit: float, why: str) -> None:
        """Be no less sure than a limit."""
        self.evidence.append(why)
        self.probability = max(self.probability, limit)

    def surer(self, why: str) -> None:
        """Halve the doubt of what is likely; what is not likely stays so."""
        self.evidence.append(why)
        if self.probability >= _LIKELY:
            self.probability = 1 - (1 - self.probability) / 2


def judge_step(claim: StepClaim) -> StepVerdict:
    """Return what a step came to, by rules alone."""
    return verdict_of(StepEvidence.of(claim))


def verdict_of(evidence: StepEvidence) -> StepVerdict:
    """Return what a step came to, from what was compared already."""
    claim, finding = evidence.claim, effect(evidence)
    blocker = None if claim.action.name in SERVED else blocker_of(evidence)
    if finding.band is StepBand.NOTHING and not client_saw(evidence) and claim.client.sentinel is not True:
        weighing, tier = Weighing(PROBABILITIES[StepBand.NOTHING], [finding.evidence]), VerificationTier.GATE
    else:
        weighing, tier = _weigh(evidence, finding), VerificationTier.RULES
    if blocker is not None and _refuses(blocker, evidence):
        weighing.refuse(f"The page refuses it: {blocker.words!r}.")
    probability = round(weighing.probability, 3)
    succeeded = probability >= SUCCESS_CONFIDENCE
    task = round(min(probability, claim.certainty), 3) if claim.final and claim.action.name != "fail" else 0.0
    moving = claim.action.name not in _NOT_MOVING
    return StepVerdict(
        succeeded=succeeded,
        confidence=probability,
        tier=tier,
        evidence=(*weighing.evidence, *filter(None, (weighing.refusal,))),
        changed=_was_seen(evidence) or bool(claim.client.sentinel and claim.client.successes),
        task_done=claim.final and succeeded and task >= SUCCESS_CONFIDENCE,
        task_confidence=task,
        blocker=blocker,
        replan=evidence.page.another_page if moving else evidence.page.significant,
        refused=bool(weighing.refusal),
        similarity=evidence.page.similarity,
    )


def _refuses(blocker: Blocker, evidence: StepEvidence) -> bool:
    """Return whether what stands in the way is the answer to a step; a page of errors, where the step has led to it."""
    if blocker.kind is BlockerKind.PAGE_ERROR:
        return evidence.page.significant and may_be_refused(evidence)
    return blocker.kind in _REFUSING and evidence.page.changed


def _was_seen(evidence: StepEvidence) -> bool:
    """Return whether anything was seen to come of a step."""
    return evidence.page.changed or evidence.arrival.answered or client_saw(evidence)


def _weigh(evidence: StepEvidence, finding: StepFinding) -> Weighing:
    """Weigh what an action left with all else that is known of it."""
    weighing = Weighing(finding.probability, [finding.evidence])
    if evidence.claim.action.name in SERVED:
        return weighing
    _expected(evidence, finding, weighing)
    _next_step(evidence, finding, weighing)
    _messages(evidence, finding, weighing)
    _client(evidence, finding, weighing)
    if evidence.arrival.unfinished and finding.band in _PRESSED:
        weighing.at_most(PROBABILITIES[StepBand.NOTHING], "It was pressed, and no click came of it.")
    if evidence.arrival.reached is False:
        weighing.at_most(PROBABILITIES[StepBand.WRONG_TARGET], "It reached something else than was meant.")
    if name := aim.missed(evidence):
        weighing.at_most(PROBABILITIES[StepBand.WRONG_TARGET], f"The step is about {name!r}, which is another element.")
    return weighing


def _expected(evidence: StepEvidence, finding: StepFinding, weighing: Weighing) -> None:
    """Weigh whether what was expected is there."""
    if evidence.claim.action.name in READS or finding.band in _EXACT:
        return
    match expectations.came_true(evidence):
        case True if evidence.page.changed or client_saw(evidence):
            weighing.at_least(PROBABILITIES[StepBand.EXPECTED], "What was expected is there.")
        case False:
            weighing.at_most(PROBABILITIES[StepBand.UNEXPECTED], "What was expected is not there.")
        case _:
            pass


def _next_step(evidence: StepEvidence, finding: StepFinding, weighing: Weighing) -> None:
    """Weigh whether what the next step names is there (001, tier 1)."""
    claim = evidence.claim
    there = aim.next_is_there(claim.next_step, claim.after)
    if there is None or claim.final or finding.band not in _WEAK:
        return
    if there and not aim.next_is_there(claim.next_step, claim.before):
        weighing.at_least(PROBABILITIES[StepBand.EXPECTED], "What the next step is about is there now.")
    elif not there and not evidence.page.significant:
        weighing.at_most(NEXT_MISSING_CAP, NEXT_MISSING)


def _messages(evidence: StepEvidence, finding: StepFinding, weighing: Weighing) -> None:
    """Weigh what the page says since the action."""
    change, pressed = evidence.change, may_be_refused(evidence)
    if change is not None and "invalid" in change.gained:
        weighing.at_most(PROBABILITIES[StepBand.ERROR], "The page marks it as invalid.")
    elif evidence.errors and finding.band is not StepBand.READ:
        weighing.refuse(f"The page says: {evidence.errors[0]!r}.")
    elif pressed and (words := refusal(evidence)):
        weighing.refuse(f"The page says: {words!r}.")
    elif pressed and (name := evidence.marked_invalid):
        weighing.refuse(f"The page marks a field as invalid: {name!r}.")
    elif evidence.loading and finding.band in _WEAK:
        weighing.at_most(PROBABILITIES[StepBand.LOADING], f"The page still works on it: {evidence.loading!r}.")
    elif evidence.successes and finding.band is not StepBand.NOT_AS_WANTED:
        weighing.surer(f"The page says: {evidence.successes[0]!r}.")


def _client(evidence: StepEvidence, finding: StepFinding, weighing: Weighing) -> None:
    """Weigh what the client has seen, and what its sentinel says."""
    client = evidence.claim.client
    unseen = finding.band in _UNSEEN and not evidence.errors
    if client.sentinel is False and client.errors:
        weighing.at_most(
            PROBABILITIES[StepBand.FAILED], _because("The client saw it fail, with errors", client.errors[0])
        )
    elif client.sentinel is False:
        weighing.at_most(NOT_FOUND_CAP, _because("The client did not see what was to be seen", client.sentinel_message))
    elif client.sentinel and client.successes:
        if unseen:
            weighing.at_least(WITNESSED, "Nothing of it is left on the page.")
        weighing.surer("The client saw it succeed.")
    elif client.network and client.mutation and unseen and not evidence.claim.final:
        weighing.at_least(HALF_WITNESSED, "The client saw the page ask its server, and change.")
    if client.element_found is False:
        weighing.at_most(NOT_FOUND_CAP, "The client did not find the element.")
    if client.status == "failure" and finding.band not in _EXACT:
        why = _because("Whoever did it says that it failed", client.error_message or client.error_code)
        weighing.at_most(PROBABILITIES[StepBand.FAILED], why)


def _because(finding: str, words: str) -> str:
    """Return a finding with the words of the client that it goes by, if there are any."""
    return f"{finding}: {words[:MAX_QUOTED_CHARS]!r}." if words else f"{finding}."
