"""Renders what is known of runs as text for a model: our own words, and the web's, which are framed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, cast

import msgspec
from msgspec import UnsetType

from actors.gateway.mcp import tool_schemas
from actors.gateway.translate import framed, one_line
from protocol.runs.responses import (
    ArtifactChunk,
    ArtifactRef,
    CancelAnswer,
    Run,
    RunAccepted,
    RunList,
    RunSummary,
    RuntimeProfile,
    Template,
    TemplateList,
)
from protocol.runs.states import POLL_MS, RunStatus

MAX_TEXT_BYTES: Final = 17_000
"""The words of the web in one answer at most: with ours it stays below 20 KB. The structured answer has all."""

MAX_SCHEMA_CHARS: Final = 4_000
_MAX_RUNS: Final = 80
_MAX_VALUE_BYTES: Final = 1_200
_MIN_ROW, _MAX_ROW = 160, 3_000
"""What a row of a result takes at least and at most, in bytes."""

_NUMBER_BYTES: Final = 8
_MORE: Final = "…"
_MAX_ARTIFACTS: Final = 10
_POLL: Final = f"Ask again in {POLL_MS // 1_000} s"

_DEDUPLICATED: Final = "The idempotency key stands for this run already: nothing was begun anew."
_SUMMARY: Final = "summary"
_CONTENT, _SECTIONS = "content", "contentSections"
_FIRST: Final = ("url", "title", "field", "same", "success", "error", "pageType", _CONTENT)
_LAST: Final = (_SECTIONS, "elements", "pageInfo")
_IMPLIED: Final = frozenset({"index"})
"""What the number of a row says already."""
TEXTS: Final = frozenset({"application/json", "text/csv", "text/markdown"})


def accepted_text(run: RunAccepted) -> str:
    """Render a run whose end is not waited for."""
    lines = [f"Run {run.run_id} of {run.template_id} is {run.status.value}."]
    if run.deduplicated is True:
        lines.append(_DEDUPLICATED)
    if run.session_preserved is True and run.session_id:
        lines.append(f"Its session {run.session_id} stays open.")
    return "\n".join([*lines, f"{_POLL}: get_task_run with runId {run.run_id}."])


def run_text(run: Run, boundary: str) -> str:
    """Render how a run stands; `boundary` is a word of letters and digits that no page can know."""
    web, left = _fitting(_result(run.result))
    lines = [*_standing(run), *_failure(run), *_counts(run.result), *_files(run)]
    if run.deduplicated is True:
        lines.append(_DEDUPLICATED)
    if run.session_preserved is True and run.session_id:
        lines.append(f"Its session {run.session_id} stays open: the browser tools go on there.")
    if run.result_truncated is True:
        lines.append("The result is shortened: the artifact of type json has it whole.")
    if left:
        lines.append(f"{left} more lines stand in the structured result alone.")
    return "\n".join([*lines, *([framed("\n".join(web), boundary)] if web else [])])


def templates_text(listed: TemplateList) -> str:
    """Render the templates, and what each takes."""
    if not listed.templates:
        return "There is no template to run."
    return "\n\n".join(map(_template, listed.templates))


def list_text(listed: RunList, offset: int) -> str:
    """Render the runs of the caller."""
    if not listed.runs:
        return f"No run fits here; {listed.total} in all."
    shown = listed.runs[:_MAX_RUNS]
    lines = [f"Runs {offset + 1} to {offset + len(listed.runs)} of {listed.total}, newest first."]
    lines += [_summary_line(run) for run in shown]
    if len(shown) < len(listed.runs):
        lines.append(f"{len(listed.runs) - len(shown)} more stand in the structured result alone.")
    if offset + len(listed.runs) < listed.total:
        lines.append(f"The next ones: the same call with offset {offset + len(listed.runs)}.")
    return "\n".join(lines)


def cancel_text(answer: CancelAnswer, run_id: str) -> str:
    """Render the outcome of a request to cancel a run."""
    status = answer.current_status
    if not answer.cancel_requested:
        return f"Nothing to cancel: the run was over already, as {status.value}."
    if status is RunStatus.CANCELED:
        return "The run is canceled."
    return (
        f"The run is to stop, and is {status.value} still: the step in hand is finished first. "
        f"{_POLL}: get_task_run with runId {run_id}."
    )


def chunk_text(chunk: ArtifactChunk, boundary: str) -> str:
    """Render a piece of a file, with the beginning of it where it is text."""
    offset = 0 if isinstance(chunk.offset, UnsetType) else chunk.offset
    end = offset + len(chunk.data)
    what = f"{chunk.mime_type} of {chunk.size:,} bytes"
    lines = [f"{what}; bytes {offset:,} to {end:,} stand in the structured result, in base64 as `data`."]
    if not chunk.complete:
        lines.append(f"The next piece: the same call with offset {end}.")
    if chunk.mime_type not in TEXTS:
        return "\n".join(lines)
    text = chunk.data[:MAX_TEXT_BYTES].decode(errors="ignore")
    if len(chunk.data) > MAX_TEXT_BYTES:
        lines.append(f"Shown here: the first {MAX_TEXT_BYTES:,} bytes of it. A smaller limit shows a piece whole.")
    return "\n".join([*lines, framed(text, boundary)])


def profile_text(profile: RuntimeProfile) -> str:
    """Render what bounds all runs."""
    limits = profile.limits
    return (
        f"Weft {profile.runtime_version}: {limits.max_concurrent_runs} runs at once, "
        f"{limits.max_run_timeout_ms / 1_000:g} s for a run, {limits.max_artifact_inline_bytes:,} bytes of an artifact "
        f"at once, kept for {profile.artifact_ttl_ms / 3_600_000:g} h. You are a {profile.trust_level.value} client."
    )


# -- our sentences -----------------------------------------------------------------------------------------------------


def _standing(run: Run) -> list[str]:
    done, total = run.progress.done_steps, run.progress.total_steps
    line = (
        f"Run {run.run_id} of {run.template_id}: {run.status.value}, {done} of {total} steps, "
        f"{run.metrics.elapsed_ms / 1_000:.1f} s."
    )
    if run.status.final:
        return [line]
    stopping = ["It is to stop before its next step."] if run.cancel_requested is True else []
    return [line, *stopping, f"{_POLL}: get_task_run with runId {run.run_id}."]


def _failure(run: Run) -> list[str]:
    if isinstance(run.error_code, UnsetType):
        return []
    lines = [f"{one_line(str(run.error))} [{run.error_code}]"]
    if not isinstance(run.details, UnsetType) and run.details.failed_step:
        code = f" with {run.details.step_error_code}" if run.details.step_error_code else ""
        lines.append(f"It failed at {one_line(str(run.details.failed_step))}{code}.")
    return [*lines, *([one_line(run.recover_hint)] if run.recover_hint else [])]


def _counts(result: Any) -> list[str]:
    """Render the numbers that a result sums itself up in; they are ours."""
    summary = cast("dict[str, Any]", result).get(_SUMMARY) if isinstance(result, dict) else None
    if not isinstance(summary, dict):
        return []
    numbers = {name: count for name, count in cast("dict[str, Any]", summary).items() if isinstance(count, int)}
    return [f"Summary: {', '.join(f'{name} {count}' for name, count in numbers.items())}."] if numbers else []


def _files(run: Run) -> list[str]:
    refs = run.artifacts or ()
    return [_file(one) for one in refs[:_MAX_ARTIFACTS]]


def _file(one: ArtifactRef) -> str:
    until = datetime.fromtimestamp(one.expires_at / 1_000, UTC)
    return (
        f"File of type {one.type.value}, {one.size:,} bytes, until {until:%Y-%m-%d %H:%M} UTC: "
        f"get_artifact with artifactId {one.artifact_id}."
    )


def _template(one: Template) -> str:
    limits: dict[str, int] = msgspec.to_builtins(one.limits)
    bounds = ", ".join(f"{name} {value}" for name, value in limits.items())
    levels = " and ".join(level.value for level in one.trust_level_support)
    partial = "may succeed in part" if one.supports_partial_success else "succeeds whole or fails"
    schema = msgspec.json.encode(_brief(one.inputs_schema)).decode()
    inputs = schema if len(schema) <= MAX_SCHEMA_CHARS else "as inputsSchema of the structured result says"
    return "\n".join(
        [
            f"{one.template_id} {one.version} ({one.name}): {one.description}",
            f"For {levels} clients; {one.execution_mode.value}; {partial}; {bounds}.",
            f"Steps: {', '.join(one.steps)}.",
            f"Inputs: {inputs}",
        ]
    )


def _brief(schema: dict[str, Any]) -> dict[str, Any]:
    """Shorten a schema as those of the tools are, where it is that of an object."""
    return tool_schemas.input_schema(schema) if isinstance(schema.get("properties"), dict) else schema


def _summary_line(run: RunSummary) -> str:
    at = datetime.fromtimestamp(run.created_at / 1_000, UTC)
    code = f" [{run.error_code}]" if run.error_code else ""
    done = f"{run.progress.done_steps} of {run.progress.total_steps} steps"
    return f"{run.run_id} {run.template_id}: {run.status.value}{code}, {done}, begun {at:%Y-%m-%d %H:%M:%S} UTC"


# -- the words of the web ----------------------------------------------------------------------------------------------


def _result(result: Any) -> Iterator[str]:
    """Write a result in lines; the rows of its lists share the room that there is."""
    if isinstance(result, UnsetType) or result is None:
        return
    if not isinstance(result, dict):
        yield _value(result, _MAX_VALUE_BYTES)
        return
    fields = cast("dict[str, Any]", result)
    lists = {name: cast("Collection[Any]", value) for name, value in fields.items() if isinstance(value, list)}
    share = min(max(MAX_TEXT_BYTES // max(sum(map(len, lists.values())), 1) - _NUMBER_BYTES, _MIN_ROW), _MAX_ROW)
    for name, value in fields.items():
        if name == _SUMMARY and isinstance(value, dict):
            continue
        if lists.get(name):
            yield f"{one_line(name)}:"
            yield from (f"{number}. {_row(row, share)}" for number, row in enumerate(lists[name], 1))
        else:
            yield f"{one_line(name)}: {_value(value, _MAX_VALUE_BYTES)}"


def _row(row: Any, room: int) -> str:
    """Write a row in a line: what it is about first, what is long last."""
    if not isinstance(row, dict):
        return _value(row, room)
    fields = cast("dict[str, Any]", row)
    shown_names = [name for name in fields if name not in _IMPLIED and not (name == _SECTIONS and _CONTENT in fields)]
    first, last = ([name for name in names if name in shown_names] for names in (_FIRST, _LAST))
    others = [name for name in shown_names if name not in (*first, *last)]
    shown = (f"{one_line(name)} {_value(fields[name], room)}" for name in (*first, *others, *last))
    return _cut("; ".join(shown), room)


def _value(value: Any, room: int) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return _cut(one_line(text[:room]), room)


def _cut(text: str, max_bytes: int) -> str:
    data = text.encode()
    return text if len(data) <= max_bytes else data[: max_bytes - len(_MORE.encode())].decode(errors="ignore") + _MORE


def _fitting(lines: Iterable[str]) -> tuple[Sequence[str], int]:
    """Take the lines that there is room for, in order, and count the others."""
    room, taken, left = MAX_TEXT_BYTES, list[str](), 0
    for line in lines:
        room -= len(line.encode()) + 1
        if room < 0:
            left += 1
        else:
            taken.append(line)
    return taken, left
