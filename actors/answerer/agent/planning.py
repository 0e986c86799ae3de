"""Answers AGENT_PLAN: proposes the next calls, and what the gate says of each; nothing is run (003, plan server)."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, cast

import msgspec
from anyio import to_thread
from msgspec import Struct

from actors.answerer.agent.by_rule import query_of
from actors.answerer.agent.evidence import MAX_SHOWN_CHARS
from actors.answerer.agent.goals import permitted, read_goal
from actors.answerer.agent.proposing import PlanBrief, propose
from actors.answerer.agent.steps import redacted
from actors.answerer.model_calls import ModelCalls
from actors.answerer.packing import numbered, shortened
from actors.answerer.reading import documents_read
from actors.settings import Settings
from bus import Bus
from bus.recording import chance
from protocol.agent import MAX_STEPS, RECENT, MakePlan, PlanContext, Planned, PlannedAction, PlannedCall
from protocol.answers import Sources
from protocol.documents import Content, Document, WebObservationSummary, untrusted
from protocol.faults import FaultError
from protocol.packets import Assistant, ToolCall
from protocol.policy import CALL_PREFIX, ToolContext, ToolRequest
from protocol.render import Doc, Paragraph, Text
from protocol.subjects import POLICY_DECIDE
from protocol.tools.tool import Surface

MOST_ACTIONS: Final = 8
"""Calls of one plan."""

MAX_SUMMARY_CHARS: Final = 500
MAX_DEPTH: Final = 8
_MAX_LINE_CHARS = 500

OUT_OF_STEPS: Final = "No step is left."
NO_RULE: Final = "No model was asked, and no rule says what comes next."
BY_RULE: Final = "No model was asked: this is what rules propose."
PROPOSED: Final = "A model proposes this."
NOTHING: Final = "A model proposes nothing further."


class PlanProposer(Struct, frozen=True, kw_only=True):
    """One plan of one caller."""

    bus: Bus
    settings: Settings
    request: MakePlan

    async def plan(self) -> Planned:
        """Propose what comes next, by a model, or by rule where none is to be asked.

        Raises:
            FaultError: the gate is not to be had.
        """
        context = self.request.context
        if (context.step or 0) >= (context.max_steps or MAX_STEPS):
            return self._planned((), OUT_OF_STEPS, None)
        documents = await to_thread.run_sync(lambda: tuple(_documents(context)))
        calls = ModelCalls(self.bus, Sources(caller=self.request.caller, local_only=self.request.local_only))
        proposed, summary = await self._proposed(calls, documents)
        actions = [await self._action(call, documents) for call in proposed[:MOST_ACTIONS]]
        return self._planned(tuple(actions), summary, calls)

    async def _proposed(
        self, calls: ModelCalls, documents: Sequence[Document[Content]]
    ) -> tuple[tuple[ToolCall, ...], str]:
        if not self.request.local_only:
            brief = await to_thread.run_sync(self._brief, documents)
            try:
                proposals = await propose(calls, brief)
            except FaultError:
                pass
            else:
                words = " ".join(proposals.words.split())[:MAX_SUMMARY_CHARS]
                return proposals.calls, words or (PROPOSED if proposals.calls else NOTHING)
        by_rule = tuple(_by_rule(self.request.goal, self.request.context))
        return by_rule, BY_RULE if by_rule else NO_RULE

    def _brief(self, documents: Sequence[Document[Content]]) -> PlanBrief:
        goal, context = self.request.goal, self.request.context
        part = shortened(numbered(documents_read(documents).evidence), goal, self.settings.answer_window_tokens)
        return PlanBrief(
            goal=goal,
            part=part,
            done=tuple(_call_line(one) for one in context.recent_tool_calls[-RECENT:]),
            left=max((context.max_steps or MAX_STEPS) - (context.step or 0), 1),
            browser=True,
        )

    async def _action(self, call: ToolCall, documents: tuple[Document[Content], ...]) -> PlannedAction:
        """Return a call with what the gate says of it."""
        goal = self.request.goal
        request = ToolRequest(
            id=CALL_PREFIX + chance(partial(secrets.token_urlsafe, 16)),
            call=call,
            surface=Surface.LLMCP,
            caller=self.request.caller,
            local=self.request.local,
            proposed=True,
            scopes=self.request.scopes,
            context=ToolContext(
                user_words=(goal,),
                documents=documents,
                permitted=permitted(goal),
                origin=self.request.context.origin,
            ),
        )
        planned = PlannedCall(id=request.id, name=call.name, arguments=call.arguments)
        return PlannedAction(tool_call=planned, policy=await self.bus.call(POLICY_DECIDE, request))

    def _planned(self, actions: tuple[PlannedAction, ...], summary: str, calls: ModelCalls | None) -> Planned:
        tree = Doc(children=(Paragraph(children=(Text(text=summary),)),))
        served = calls.served if calls is not None and calls.served.calls else None
        return Planned(
            actions=actions,
            summary=summary,
            assistant=Assistant(render=tree),
            goal_plan=self.request.context.goal_plan,
            served_by=served,
        )


def _by_rule(goal: str, context: PlanContext) -> Iterator[ToolCall]:
    """Yield the one call that comes next by the words of the goal, unless it was made."""
    words = read_goal(goal)
    made = {str(one.get("name")) for one in context.recent_tool_calls[-RECENT:]}
    url = next((one for one in words.urls if one != context.origin), "")
    if words.expression:
        call = ToolCall(name="app.calculate", arguments={"expression": words.expression})
    elif url and "browser.navigate" not in made:
        call = ToolCall(name="browser.navigate", arguments={"url": url})
    elif context.observation is None:
        call = ToolCall(name="browser.observe_dom", arguments={})
    else:
        call = ToolCall(name="search", arguments={"query": query_of(goal)})
    if call.name not in made:
        yield call


def _documents(context: PlanContext) -> Iterator[Document[Content]]:
    """Yield what the caller sees as documents: the observation, and the last results; all of it is untrusted."""
    rows: list[tuple[str, Any]] = [("observation", context.observation), ("tabs", list(context.tabs) or None)]
    rows += [(f"result_{number}", one) for number, one in enumerate(context.recent_tool_results[-RECENT:], 1)]
    for name, value in rows:
        if value is not None:
            markdown = "\n\n".join(_lines(value))[:MAX_SHOWN_CHARS]
            yield untrusted(name, WebObservationSummary(url=context.origin, title=name, markdown=markdown))


def _lines(value: Any, name: str = "", depth: int = 0) -> Iterator[str]:
    """Write data as paragraphs, one for each value that holds no others."""
    match value:
        case dict() if depth < MAX_DEPTH:
            for key, inner in cast("dict[str, Any]", value).items():
                yield from _lines(inner, f"{name}.{key}" if name else key, depth + 1)
        case list() if depth < MAX_DEPTH:
            for row in cast("Iterable[Any]", value):
                yield from _lines(row, name, depth + 1)
        case None:
            pass
        case _:
            text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            yield f"{name}: {' '.join(text.split())}" if name else " ".join(text.split())


def _call_line(call: dict[str, Any]) -> str:
    given = call.get("arguments")
    arguments = redacted(cast("dict[str, Any]", given)) if isinstance(given, dict) else {}
    return f"{call.get('name')} {msgspec.json.encode(arguments).decode()}"[:_MAX_LINE_CHARS]
