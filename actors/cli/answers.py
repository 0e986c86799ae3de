"""`weft summarize`, `weft ask` and `weft pull`: what pages say, in short, of a question, or by a schema."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import anyio
import msgspec
import typer

from actors.cli.agent import reach_goal, show_result
from actors.cli.answer_output import AnswerScreen, show
from actors.cli.collections import with_meant_collection
from actors.cli.connection import at_gateway
from actors.cli.options import ConfigFile, DataDir, Fresh, Json, LogLevel, MaxLatency, MaxTier, SavedLogin, read
from actors.cli.routes import model_name
from actors.settings import Loaded
from protocol.agent import MAX_STEPS, MOST_STEPS
from protocol.answers import SummaryStyle
from protocol.browse import DEFAULT_LATENCY_MS, Freshness
from protocol.codec import malformed
from protocol.faults import Code, FaultError, fault
from protocol.tiers import TIERS

if TYPE_CHECKING:
    from actors.gateway.client import AnswerResult, ExtractResult, SourcesRequest

S = TypeVar("S", bound="SourcesRequest")

_ADDRESS_SIGNS = frozenset(".:/")
"""A page among others has one of them; the words of a question that lacks its quotes have none."""

Urls = Annotated[
    list[str], typer.Argument(metavar="URL...", help="Addresses of the pages; https:// when they name no scheme.")
]
Local = Annotated[bool, typer.Option("--local", help="Ask no model: quote what the pages say.")]
Model = Annotated[
    str | None, typer.Option("--model", metavar="PROVIDER/MODEL", help="The model to ask, such as openai/gpt-4o-mini.")
]
MaxCost = Annotated[float | None, typer.Option("--max-cost", metavar="USD", min=0, help="What models may cost.")]
Talk = Annotated[
    str | None, typer.Option("--conversation", metavar="ID", help="Go on with a conversation; see: weft conversations.")
]

_TYPES = {
    "string": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "date": {"type": "string", "format": "date"},
    "url": {"type": "string", "format": "uri"},
    "email": {"type": "string", "format": "email"},
}
_MANY = "[]"

AsGoal = Annotated[
    bool, typer.Option("--agent", help="Take QUESTION for a goal, and use tools for it; no page need be named.")
]
GoalTools = Annotated[
    str | None, typer.Option("--tools", metavar="A,B", help="With --agent: the tools that the goal wants.")
]
FromCollection = Annotated[
    str | None,
    typer.Option(
        "--collection", metavar="ID|TITLE", help="Answer from a collection of yours; with --agent, capture into it."
    ),
]
GoalSteps = Annotated[int, typer.Option("--steps", min=1, max=MOST_STEPS, help="With --agent: how many.")]


def summarize(  # noqa: PLR0913 - the options of a command
    urls: Urls,
    *,
    style: Annotated[SummaryStyle, typer.Option("--style", help="How much it says.")] = SummaryStyle.CONCISE,
    local: Local = False,
    model: Model = None,
    max_cost: MaxCost = None,
    conversation: Talk = None,
    profile: SavedLogin = None,
    max_tier: MaxTier = TIERS[-1],
    max_latency_ms: MaxLatency = DEFAULT_LATENCY_MS,
    fresh: Fresh = Freshness.ANY,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Summarize pages, with verbatim quotes.

    Uses the running Weft, or starts a private one for this call. Without a provider of models, and with --local, it
    quotes what the pages say. Exit codes: 0 all pages were read, 4 some were not.
    """
    from actors.gateway.client import SummarizeRequest  # noqa: PLC0415 - imports the gateway

    options = _options(profile, max_tier, max_latency_ms, fresh)
    chosen = _chosen(urls, options, local=local, model=model, max_cost=max_cost, conversation=conversation)
    request = _request(SummarizeRequest, {**chosen, "style": style})
    show(anyio.run(_answer, read(config, data_dir, log_level), request), as_json=as_json)


def ask(  # noqa: PLR0913 - the options of a command
    words: Annotated[
        list[str], typer.Argument(metavar="URL... QUESTION", help="Addresses of the pages, and last the question.")
    ],
    *,
    agent: AsGoal = False,
    tools: GoalTools = None,
    collection: FromCollection = None,
    steps: GoalSteps = MAX_STEPS,
    local: Local = False,
    model: Model = None,
    max_cost: MaxCost = None,
    conversation: Talk = None,
    profile: SavedLogin = None,
    max_tier: MaxTier = TIERS[-1],
    max_latency_ms: MaxLatency = DEFAULT_LATENCY_MS,
    fresh: Fresh = Freshness.ANY,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Answer a question from pages, with quotes.

    Uses the running Weft, or starts a private one for this call. Without a provider of models, and with --local, it
    quotes what the pages say. Exit codes: 0 answered, 4 the pages do not say it, some were not read, or a step of
    --agent waits for an approval.
    """
    from actors.gateway.client import AgentRequest, AnswerRequest  # noqa: PLC0415 - imports the gateway

    *urls, question = words
    loaded = read(config, data_dir, log_level)
    options = _options(profile, max_tier, max_latency_ms, fresh)
    chosen = _chosen(urls, options, local=local, model=model, max_cost=max_cost, conversation=conversation)
    if agent:
        wanted = None if tools is None else [name.strip() for name in tools.split(",") if name.strip()]
        goal = {"goal": question, "tools": wanted, "maxSteps": steps}
        result = anyio.run(reach_goal, loaded, _request(AgentRequest, {**chosen, **goal}), collection)
        show_result(result, as_json=as_json)
        return
    if not urls and collection is None:
        raise typer.BadParameter('name a page and a question: weft ask URL "QUESTION"', param_hint="QUESTION")
    if stray := next((word for word in urls[1:] if not _ADDRESS_SIGNS & set(word)), ""):
        raise typer.BadParameter(f"{stray!r} is no page: write the question in quotes", param_hint="QUESTION")
    request = _request(AnswerRequest, {**chosen, "question": question, "collection": collection})
    show(anyio.run(_answer, loaded, request), as_json=as_json)


def pull(  # noqa: PLR0913 - the options of a command
    urls: Urls,
    *,
    schema: Annotated[Path | None, typer.Option("--schema", metavar="FILE", help="JSON Schema of the data.")] = None,
    fields: Annotated[
        str | None,
        typer.Option("--fields", metavar="A,B:number,C:date[]", help=f"Names and types of it: {', '.join(_TYPES)}."),
    ] = None,
    instructions: Annotated[str, typer.Option("--instructions", help="What a model is to heed.")] = "",
    local: Local = False,
    model: Model = None,
    max_cost: MaxCost = None,
    conversation: Talk = None,
    profile: SavedLogin = None,
    max_tier: MaxTier = TIERS[-1],
    max_latency_ms: MaxLatency = DEFAULT_LATENCY_MS,
    fresh: Fresh = Freshness.ANY,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Find data in pages by a schema.

    Prints the data as JSON, null for what is not there; with --json also where each value is from. Uses the running
    Weft, or starts a private one for this call. Exit codes: 0 all pages were read, 4 some were not.
    """
    from actors.gateway.client import ExtractRequest  # noqa: PLC0415 - imports the gateway

    options = _options(profile, max_tier, max_latency_ms, fresh)
    chosen = _chosen(urls, options, local=local, model=model, max_cost=max_cost, conversation=conversation)
    wanted = {"schema": _schema(schema, fields), "instructions": instructions}
    request = _request(ExtractRequest, {**chosen, **wanted})
    show(anyio.run(_answer, read(config, data_dir, log_level), request), as_json=as_json)


async def _answer(loaded: Loaded, request: SourcesRequest) -> AnswerResult | ExtractResult:
    async with at_gateway(loaded, or_private=True, watched=True) as client:
        with AnswerScreen.shown() as screen:
            meant = await with_meant_collection(client, request)
            return await client.answer(meant, screen.on_progress, screen.on_text)


def _options(profile: str | None, max_tier: str, max_latency_ms: int, fresh: str) -> dict[str, Any]:
    given = {"maxCostTier": max_tier, "maxLatencyMs": max_latency_ms, "freshnessRequirement": fresh}
    return given | ({} if profile is None else {"sessionProfile": profile})


def _chosen(  # noqa: PLR0913 - what three commands have in common
    urls: list[str],
    options: dict[str, Any],
    *,
    local: bool,
    model: str | None,
    max_cost: float | None,
    conversation: str | None,
) -> dict[str, Any]:
    """Return the fields that all three requests have."""
    pin = {} if model is None else msgspec.structs.asdict(model_name(model))
    return {
        "urls": urls,
        "options": options,
        "localOnly": local,
        "maxCostUsd": max_cost,
        "conversation": conversation,
        **pin,
    }


def _request(kind: type[S], fields: dict[str, Any]) -> S:
    """Make a request of what was chosen on the command line, held to the same limits as one over REST."""
    try:
        return msgspec.convert(msgspec.to_builtins(fields), kind)
    except msgspec.ValidationError as error:
        raise malformed(Code.VALIDATION_INVALID_REQUEST, str(error), kind) from None


def _schema(file: Path | None, fields: str | None) -> dict[str, Any]:
    """Read the schema of a file, or write that of fields.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, the file holds no JSON object, or a field has no such type.
    """
    if (file is None) == (fields is None):
        raise typer.BadParameter("say what is wanted by --schema FILE or by --fields A,B:number")
    if file is None:
        return schema_of(fields or "")
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
    except OSError as error:
        complaint = f"{file}: {error.strerror or type(error).__name__}"
    except (msgspec.DecodeError, UnicodeDecodeError):
        complaint = f"{file}: no JSON object"
    raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, complaint, field="--schema"))


def schema_of(fields: str) -> dict[str, Any]:
    """Write the JSON Schema of fields such as `name,price:number,tags:string[]`.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, a field has no name or no such type.
    """
    properties: dict[str, Any] = {}
    for field in fields.split(","):
        name, _, kind = (part.strip() for part in field.partition(":"))
        one = _TYPES.get(kind.removesuffix(_MANY) or "string")
        if not name or one is None:
            named = field.strip() or fields
            complaint = f"--fields {named}: a name, and perhaps one of {', '.join(_TYPES)}, such as b:number[]"
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, complaint, field="--fields"))
        properties[name] = {"type": "array", "items": one} if kind.endswith(_MANY) else one
    return {"type": "object", "properties": properties}
