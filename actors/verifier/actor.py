"""The actor that answers VERIFY_PAGE and VERIFY_STEP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from actors.actor import Actor, handles
from actors.verifier import model, rules
from actors.verifier.steps.attribution import StepEvidence
from actors.verifier.steps.modelled import judged_by_models, needs_model
from actors.verifier.steps.rules import verdict_of
from protocol import subjects
from protocol.acting.steps import StepClaim, StepVerdict
from protocol.pages import PageClaim, Verdict
from protocol.subject_kinds import Subject


@dataclass
class Verifier(Actor):
    """Answers VERIFY_PAGE: is this the page that was asked for, and whole? And VERIFY_STEP: did this action do that?"""

    name: ClassVar[str] = "verifier"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (subjects.CALL_MODEL,)

    @classmethod
    def warm(cls) -> None:
        """Load the phrases and the weights."""
        model.warm()

    @handles(subjects.VERIFY_PAGE, at_once=64)
    async def verify(self, claim: PageClaim) -> Verdict:
        """Judge one fetched page."""
        return rules.judge(claim)

    @handles(subjects.VERIFY_STEP, at_once=64)
    async def verify_step(self, claim: StepClaim) -> StepVerdict:
        """Judge one action on a page."""
        evidence = StepEvidence.of(claim)
        verdict = verdict_of(evidence)
        return await judged_by_models(self.bus, evidence, verdict) if needs_model(evidence, verdict) else verdict
