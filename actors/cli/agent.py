"""`weft ask --agent`: a goal that is reached by tools, its steps as they happen, and the approvals it waits for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer
from anyio import to_thread
from msgspec import UNSET, structs

from actors.cli import terminal
from actors.cli.answer_output import AnswerScreen, show
from actors.cli.collections import meant_collection
from actors.cli.connection import at_gateway
from actors.cli.terminal import Exit
from actors.cli.tools import show_waiting
from protocol.agent import AgentEnd
from protocol.replicas import Progress

if TYPE_CHECKING:
    from actors.gateway.client import AgentRequest, AgentResult, GatewayClient
    from actors.settings import Loaded

STEP = "Step "
"""How the progress of a step begins."""


async def reach_goal(loaded: Loaded, request: AgentRequest, collection: str | None) -> AgentResult:
    """Have a goal reached; on a terminal, ask about each approval that it waits for, and go on.

    `collection` is named by its id or its title.
    """
    from actors.gateway.client import pending  # noqa: PLC0415 - imports the gateway

    async with at_gateway(loaded, or_private=True, watched=True) as client:
        if collection is not None:
            request = structs.replace(request, collection=await meant_collection(client, collection))
        result = await _reached(client, request)
        while (approval := pending(result)) is not None and sys.stdin.isatty():
            show_waiting(approval)
            allowed = await to_thread.run_sync(_allowed, abandon_on_cancel=True)
            await client.answer_approval(approval.id, allow=allowed)
            result = await _reached(client, structs.replace(request, conversation=result.conversation.id))
        return result


async def _reached(client: GatewayClient, request: AgentRequest) -> AgentResult:
    with AnswerScreen.shown() as screen:

        async def on_progress(progress: Progress) -> None:
            if progress.message.startswith(STEP):
                terminal.err().print(terminal.one_line(progress.message), style="dim", soft_wrap=True)
            await screen.on_progress(progress)

        return await client.agent(request, on_progress, screen.on_text)


def show_result(result: AgentResult, *, as_json: bool) -> None:
    """Print the answer and its steps, and leave with what it means.

    Raises:
        typer.Exit: PARTIAL, where it waits for an approval, or what was read does not say it.
    """
    from actors.gateway.client import pending  # noqa: PLC0415 - as above

    if as_json:
        terminal.write(terminal.json_text(result))
        raise typer.Exit(Exit.OK if result.ended is AgentEnd.ANSWERED else Exit.PARTIAL)
    console = terminal.err()
    for line in _step_lines(result):
        console.print(line, style="dim", soft_wrap=True)
    approval = pending(result)
    if approval is None:
        show(result.answer, as_json=False)
        return
    show_waiting(approval)
    console.print(
        f"  then: weft ask --agent --conversation {result.conversation.id} with the same goal", soft_wrap=True
    )
    raise typer.Exit(Exit.PARTIAL)


def _allowed() -> bool:
    return typer.confirm("Allow it once?", default=False, err=True)


def _step_lines(result: AgentResult) -> Iterator[str]:
    for step in result.steps:
        error = "" if step.error is UNSET else f": {step.error.error}"
        arguments = terminal.json_text(step.arguments, indent=0)
        yield terminal.one_line(
            f"{step.number}. {step.tool} {arguments} ({step.by}) {step.policy.decision}, {step.status}{error}"
        )
    if result.collection_id is not UNSET:
        yield f"collection {terminal.one_line(result.collection_id)}"
