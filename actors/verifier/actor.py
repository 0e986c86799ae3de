"""The actor that answers VERIFY_PAGE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from actors.actor import Actor, handles
from actors.verifier import model, rules
from protocol import subjects
from protocol.pages import PageClaim, Verdict


@dataclass
class Verifier(Actor):
    """Answers VERIFY_PAGE: is this the page that was asked for, and whole?"""

    name: ClassVar[str] = "verifier"

    @classmethod
    def warm(cls) -> None:
        """Load the phrases and the weights."""
        model.warm()

    @handles(subjects.VERIFY_PAGE, at_once=64)
    async def verify(self, claim: PageClaim) -> Verdict:
        """Judge one fetched page."""
        return rules.judge(claim)
