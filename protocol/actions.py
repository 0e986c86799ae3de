"""The next things to try after an error: each names what to do, with which tool, and with what (000 §3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec import Struct

from protocol.tiers import BROWSER, SCRIPTED, TIERS

RATE_LIMIT_DELAY_MS: Final = 60_000
"""How long to wait after a rate limit that names no delay (000 §3, recovery tree)."""


class Action(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One thing a client can do next; the lowest priority number first (000 §3).

    `tool_to_use` is a tool of MCP, and `parameters` are its arguments; in the table of codes only those that the action
    is about, at the edge the whole of the next call. Over REST `request` is the method and the path of that call, and
    `parameters` its body; `command` is the same as a line for a shell.
    """

    action: str
    description: str
    # 000 §3 requires it in the JSON, where `omit_defaults` would leave out a plain 1.
    priority: int = msgspec.field(default_factory=lambda: 1)
    suggested_delay_ms: int | None = None
    tool_to_use: str | None = None
    parameters: dict[str, Any] | None = None
    request: str | None = None
    command: str | None = None

    def __post_init__(self) -> None:
        """Keep the numbers in the ranges that the contract gives them."""
        if self.priority < 1:
            msg = "priority counts from 1"
            raise ValueError(msg)


_BROWSE: Final = "browse"

RETRY = Action(
    action="retry",
    description="Wait a moment and send the same request again, three times at most.",
    suggested_delay_ms=1_000,
)
REPORT = Action(action="report_to_user", description="Tell the user; trying again will not help.")
"""What is left when there is nothing more to try."""
USE_BROWSER = Action(
    action="use_browser_tier",
    description="Ask again with the full browser, which runs the page's scripts.",
    tool_to_use=_BROWSE,
    parameters={"forceTier": BROWSER.value},
)
USE_LIGHTWEIGHT = Action(
    action="use_lightweight_tier",
    description="Ask again with the tier that runs the page's scripts without a browser.",
    tool_to_use=_BROWSE,
    parameters={"forceTier": SCRIPTED[0].value},
)
NO_SCRIPTS = Action(
    action="read_without_scripts",
    description="Ask again with the tier that runs no scripts of the page.",
    tool_to_use=_BROWSE,
    parameters={"forceTier": TIERS[0].value},
)
ANY_TIER = Action(action="use_any_tier", description="Ask again without forceTier: another tier may do.")
MORE_TIME = Action(action="allow_more_time", description="Ask again, and allow more time by maxLatencyMs.")
NO_SELECTOR = Action(
    action="do_not_wait_for_selector", description="Ask again without waitForSelector: the page may do without it."
)
REFUSE_CONSENT = Action(
    action="dismiss_overlays",
    description="Ask again with the full browser, and have it refuse what the page wants consent for.",
    tool_to_use=_BROWSE,
    parameters={"forceTier": BROWSER.value, "dismissOverlays": True},
)
WAIT = Action(
    action="wait_and_retry",
    description="Wait for the suggested delay, then send the request again; double the delay each time.",
    suggested_delay_ms=RATE_LIMIT_DELAY_MS,
)
SLOWER = Action(action="reduce_frequency", description="Ask this domain less often.", priority=2)
REFRESH = Action(
    action="refresh_session",
    description="Renew the saved session of this domain, then repeat the request.",
    tool_to_use="refresh_session",
)
USE_SAVED = Action(
    action="use_saved_session", description="Ask again with a session that is saved for this site, by sessionProfile."
)
LOG_IN = Action(
    action="log_in",
    description="Save a session for this site first, with the credentials of the user, then name it in the request.",
    tool_to_use="run_task_template",
    parameters={"templateId": "login_keep_session"},
)
"""What a page that wants a login needs, where none is saved."""
CHECK_URL = Action(action="check_url", description="Check the address: it may be misspelt or gone.")
FIX_INPUT = Action(action="fix_request", description="Correct the field that the message names and send it again.")
OPERATOR = Action(
    action="ask_operator", description="The operator of this Weft has to change a setting or start an actor."
)
FRESH = Action(
    action="fetch_fresh",
    description="Fetch again without anything remembered of this site.",
    tool_to_use=_BROWSE,
    parameters={"freshnessRequirement": "realtime"},
)
NEW_SESSION = Action(
    action="create_session",
    description="Open a new browser session, and go on there.",
    tool_to_use="create_session",
    parameters={},
)
LOOK_AGAIN = Action(
    action="look_again",
    description="Look at the page as it stands now, and go on from there.",
    tool_to_use="get_page_info",
)
ASK_SITE = Action(action="ask_site", description="Ask whoever runs the site; its robots.txt keeps programs out.")
OTHER_KEY = Action(
    action="use_other_key", description="Use a key or token with the scope that the message names, or ask for one."
)
LIST_TEMPLATES = Action(
    action="list_templates",
    description="Take the id and the version of a template from the list of them.",
    tool_to_use="list_task_templates",
)
GO_LOCAL = Action(
    action="use_other_connection",
    description="Take another template, or have the user start `weft mcp` or `weft run` on their own machine.",
)
CHECK_RUN = Action(
    action="check_run_id", description="Take the id from the list of your runs.", tool_to_use="list_task_runs"
)
CHECK_CONVERSATION = Action(
    action="check_conversation_id",
    description="Take the id from the list of your conversations, which go back 30 days.",
)
BEGIN_TASK = Action(action="begin_task", description="Send the goal without a task id: that begins a task.")
TAKE_IN_HAND = Action(
    action="take_in_hand", description="Take the session in hand first: PUT /api/browsers/{id}/hand with `hold` true."
)
AWAIT_HAND = Action(
    action="wait_for_person", description="Wait until the person hands the session back, or work in another one."
)
BEGIN_CHAT = Action(action="begin_chat", description="Send it with a new session id: that begins a chat session.")
LESS_WORK = Action(action="split_run", description="Give the run more time, or split it into smaller ones.")
RUN_ANEW = Action(action="run_again", description="Run the template again.", tool_to_use="run_task_template")
RECORD_AGAIN = Action(
    action="record_flow_again",
    description="Look at the page; where it has changed for good, record the flow again: weft flows record NAME URL.",
)
CHECK_FLOW = Action(action="check_flow_id", description="Take the id from the list of your flows: GET /api/flows.")
SEE_STEP = Action(action="see_details", description="`details` name the step that failed and its code.")
ANSWER_LOCALLY = Action(
    action="answer_locally",
    description="Ask again with localOnly: answers that quote the page need no model.",
)
ADD_PROVIDER = Action(
    action="add_provider",
    description="Set the key of a provider where Weft runs, such as ANTHROPIC_API_KEY, OPENAI_API_KEY or "
    "GEMINI_API_KEY, or the address of a server of your own by OLLAMA_HOST; or add one by `weft providers add`.",
)
MORE_BUDGET = Action(
    action="raise_budget",
    description="The operator of this Weft can raise model_day_cents, model_key_day_cents, model_run_cents or "
    "model_unpriced_calls; days end at midnight UTC.",
)
CHECK_COLLECTION = Action(action="check_collection_id", description="Take the id from the list of your collections.")
CHECK_SOURCE = Action(action="check_source_id", description="Take the id from the sources of the collection.")
CHECK_PATTERN = Action(
    action="check_pattern_id",
    description="Take the id from what is known of the domain: GET /api/domains/{domain}, or weft patterns.",
)
CHECK_APPROVAL = Action(
    action="check_approval_id",
    description="Take the id from the list of your approvals: GET /api/approvals, or weft approvals.",
)
ANSWER_APPROVAL = Action(
    action="answer_approval",
    description="Have the user allow or deny it: POST /api/approvals/{id}, or weft approvals allow ID.",
)
CHECK_ARTIFACT = Action(
    action="check_artifact_id",
    description="Take the id from the artifacts of the run.",
    tool_to_use="get_task_run",
)
CHECK_TEXT = Action(
    action="check_text_id", description="Take the id from the list of your texts: GET /api/texts, or weft texts list."
)
MAKE_ROOM = Action(action="make_room", description="Delete collections or sources that are needed no more.")


def ranked(actions: Iterable[Action]) -> tuple[Action, ...]:
    """Return actions with priorities in this order, from 1."""
    return tuple(msgspec.structs.replace(action, priority=rank) for rank, action in enumerate(actions, start=1))
