"""What the gate makes of a request: a call that is understood, a decision, and the first line of its journal."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import Final

import msgspec
from msgspec import Struct, structs

from actors.addresses import Network
from actors.policy.call_log import CallBook, CallLog, Likeness
from actors.policy.evidence import GateCall, Gathered, gather, page_of
from actors.policy.rules import Judgement
from actors.policy.words import effect_of, shown_arguments, words_of
from actors.toml_file import Watched
from bus import Bus
from bus.clock import now_ms
from protocol.faults import FaultError
from protocol.policy import Decision, FieldFacts, Reason, RunTool, ToolRequest, Verb
from protocol.policy_rules import GateRules
from protocol.tool_log import ApprovalQuestion, CallDecided
from protocol.tools.registry import arguments_of, find

CATCH_UP_S: Final = 2.0
"""How long reading what others have written may take before what is known is answered."""

MAX_KEPT_BYTES: Final = 256 * 1024
"""What is written down of what has to be done, where it is done at once."""

SEALED_ARGUMENT: Final = "sealed"

REMEMBERED: Final = frozenset({Reason.ASSIST_REQUIRES_APPROVAL, Reason.SHARE_REQUIRES_APPROVAL})
"""What one answer may be given about for more than one call; all else is asked about each time."""


class Gate(Struct, frozen=True, kw_only=True):
    """Decides by the rules in force, and by what was allowed before."""

    rules: Watched[GateRules]
    networks: tuple[Network, ...]
    log: CallLog
    book: CallBook
    bus: Bus

    async def decide(self, call: GateCall, element: FieldFacts | None) -> tuple[Decision, Gathered]:
        """Return what the gate says of a call, and what it goes by.

        Raises:
            FaultError: nobody can say which page it is about; the journal is away.
        """
        page = await self._page(call, element)
        gathered = await gather(call, element, page, self.networks)
        decision = self._judge(call, gathered)
        if decision.decision is not Verb.ASK or decision.reason_code not in REMEMBERED:
            return decision, gathered
        await self.book.caught_up(self.log.journal, CATCH_UP_S)
        like = Likeness(
            caller=call.request.caller,
            tool=call.tool.name,
            conversation=call.request.conversation,
            site=gathered.site,
        )
        if self.book.granted(like, now_ms() - self.rules.value.remembered_ms()):
            gathered = structs.replace(gathered, evidence=structs.replace(gathered.evidence, granted=True))
            decision = self._judge(call, gathered)
        return decision, gathered

    def line(self, call: GateCall, decision: Decision, gathered: Gathered) -> CallDecided:
        """Return the first line of a call."""
        request, tool, now = call.request, call.tool, now_ms()
        shown = shown_arguments(tool, call.arguments, secret_field=gathered.evidence.kind.sensitive)
        asks, run = decision.decision is Verb.ASK, b""
        if asks or (decision.decision is Verb.ALLOW and not gathered.evidence.kind.sensitive):
            run = self.log.sealed_run(run_of(call, decision))
        # What is allowed and secret, or large, is in hand while it is done, and kept nowhere: nobody else can go on
        # with it when this replica dies.
        if not asks and len(run) > MAX_KEPT_BYTES:
            run = b""
        question = None
        if asks:
            question = ApprovalQuestion(
                words=words_of(tool, shown, gathered.evidence.element, gathered.site),
                effect=effect_of(tool, call.arguments, gathered.site),
                expires_at=now + self.rules.value.approval_ms(),
            )
        return CallDecided(
            call=request.id,
            at=now,
            tool=tool.name,
            conversation=request.conversation,
            caller=request.caller,
            surface=request.surface,
            by_hand=request.by_hand,
            decision=decision,
            digest=digest_of(call),
            proposed=request.proposed,
            arguments=shown,
            site=gathered.site,
            run=run,
            replica=self.bus.replica if decision.decision is Verb.ALLOW else "",
            question=question,
        )

    async def _page(self, call: GateCall, element: FieldFacts | None) -> str:
        """Return the page that a call acts on; the browser is asked where somebody wants to know."""
        if element is not None:
            return element.page_url
        if self.rules.value.by_host:
            return await page_of(self.bus, call)
        if call.request.proposed:
            with suppress(FaultError):
                return await page_of(self.bus, call)
        return call.request.context.origin

    def _judge(self, call: GateCall, gathered: Gathered) -> Decision:
        judgement = Judgement(tool=call.tool, request=call.request, evidence=gathered.evidence, rules=self.rules.value)
        return judgement.decide()


def understood(request: ToolRequest) -> GateCall | Decision:
    """Return a call as the tool's own; a denial where it is none."""
    try:
        tool = find(request.call.name, request.surface)
    except ValueError as error:
        return Decision(decision=Verb.DENY, reason_code=Reason.UNKNOWN_TOOL, why=_sentence(error))
    try:
        given = arguments_of(request.call, request.surface)
    except ValueError as error:
        return Decision(decision=Verb.DENY, reason_code=Reason.INVALID_ARGUMENTS, why=_sentence(error))
    return GateCall.of(tool, request, given)


def digest_of(call: GateCall) -> str:
    """Return what tells one call from another that has its id; what is sealed looks otherwise each time."""
    arguments = {name: value for name, value in call.arguments.items() if name != SEALED_ARGUMENT}
    words = (call.request.caller, call.tool.name, arguments, call.session, call.tab)
    return hashlib.sha256(msgspec.json.encode(words, order="sorted")).hexdigest()


def run_of(call: GateCall, decision: Decision) -> RunTool:
    """Return what has to be done."""
    request = call.request
    return RunTool(
        id=request.id,
        name=call.tool.name,
        arguments=dict(call.arguments),
        caller=request.caller,
        local=request.local,
        conversation=request.conversation,
        session=call.session,
        tab=call.tab,
        expects=decision.expects,
        brisk=request.brisk,
        by_hand=request.by_hand,
    )


def _sentence(error: ValueError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."
