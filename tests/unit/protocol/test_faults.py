"""The table of faults keeps to the seed's categories, codes and decision tree."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from protocol.actions import RATE_LIMIT_DELAY_MS, Action
from protocol.codec import encode
from protocol.faults import KINDS, Category, Code, Fault, FaultContext, FaultError, fault, rate_limited
from tests.requirements import requirement

ALWAYS_RETRYABLE = {Category.NETWORK, Category.RATE_LIMIT, Category.SITE_CHANGE, Category.INTERNAL}
NEVER_RETRYABLE = {Category.SECURITY, Category.CONFIG}


Plan = tuple[str, int | None, str | None, dict[str, Any] | None]

END: Plan = ("report_to_user", None, None, None)
LOG_IN: Plan = ("log_in", None, "run_task_template", {"templateId": "login_keep_session"})


def plan(code: Code) -> list[Plan]:
    """Return what a code recommends, in the order of priority."""
    return [(a.action, a.suggested_delay_ms, a.tool_to_use, a.parameters) for a in fault(code).actions]


@requirement("000.3.categories")
def test_there_are_twelve_categories() -> None:
    assert [category.value for category in Category] == [
        "network",
        "http",
        "auth",
        "rate_limit",
        "content",
        "validation",
        "security",
        "browser",
        "config",
        "site_change",
        "blocked",
        "internal",
    ]


def test_every_code_has_a_kind_and_every_category_a_code() -> None:
    assert set(KINDS) == set(Code)
    assert {kind.category for kind in KINDS.values()} == set(Category)


NAMED_BY_002 = frozenset(
    {
        Code.PAGE_CRASHED,
        Code.ELEMENT_NOT_FOUND,
        Code.SESSION_NOT_FOUND,
        Code.EXECUTION_ERROR,
        Code.TEMPLATE_NOT_FOUND,
        Code.TEMPLATE_VERSION_UNSUPPORTED,
        Code.TRUST_LEVEL_NOT_ALLOWED,
        Code.RUN_NOT_FOUND,
        Code.RUN_TIMEOUT,
        Code.RUN_CANCELED,
        Code.STEP_EXECUTION_FAILED,
        Code.TPL_LOGIN_FIELD_NOT_FOUND,
        Code.ARTIFACT_NOT_FOUND,
        Code.ARTIFACT_EXPIRED,
    }
)
"""002 §7.1 names them without their category."""

OF_STEPS = frozenset({Code.STEP_VERIFICATION_FAILED})
"""It is named as STEP_EXECUTION_FAILED is, which it is a case of."""

NO_SITE = frozenset({Code.SITE_PARKED, Code.SITE_NOT_READY, Code.SITE_SUSPENDED, Code.SITE_NOT_CONFIGURED})
"""There is no site to ask again, and what is a change of a site may always be asked again (000 §3): it is content."""


@pytest.mark.parametrize("code", [code for code in Code if code not in NAMED_BY_002 | NO_SITE | OF_STEPS])
def test_a_code_begins_with_its_category(code: Code) -> None:
    prefix = {Category.SITE_CHANGE: "SITE"}.get(KINDS[code].category, KINDS[code].category.upper())

    assert code.startswith((f"{prefix}_", "SITE_") if KINDS[code].category is Category.CONTENT else f"{prefix}_")


@requirement("000.3.retryable")
@pytest.mark.parametrize("code", Code)
def test_retryable_is_what_the_category_allows(code: Code) -> None:
    kind = KINDS[code]

    assert kind.retryable or kind.category not in ALWAYS_RETRYABLE
    assert not (kind.retryable and kind.category in NEVER_RETRYABLE)


@requirement("000.3.codes")
@pytest.mark.parametrize(
    ("category", "retryable", "codes"),
    [
        ("network", True, ["NETWORK_TIMEOUT", "NETWORK_CONNECTION_FAILED", "NETWORK_DNS_FAILED"]),
        ("http", False, ["HTTP_NOT_FOUND", "HTTP_FORBIDDEN"]),
        ("http", True, ["HTTP_SERVICE_UNAVAILABLE", "HTTP_BAD_GATEWAY"]),
        ("auth", True, ["AUTH_SESSION_EXPIRED"]),
        ("auth", False, ["AUTH_INVALID_CREDENTIALS", "AUTH_MISSING_SESSION"]),
        ("rate_limit", True, ["RATE_LIMIT_EXCEEDED"]),
        ("content", True, ["CONTENT_REQUIRES_JS"]),
        ("content", False, ["CONTENT_EMPTY", "CONTENT_TOO_SHORT"]),
        ("blocked", True, ["BLOCKED_BOT_DETECTION", "BLOCKED_RATE_LIMITED", "BLOCKED_GEO_RESTRICTED"]),
    ],
)
def test_the_codes_of_the_seed_mean_what_it_says(category: str, retryable: bool, codes: list[str]) -> None:  # noqa: FBT001 - a table
    found = [fault(Code(code)) for code in codes]

    assert [(each.category, each.retryable) for each in found] == [(Category(category), retryable)] * len(codes)


@requirement("000.3.recovery")
@pytest.mark.parametrize("code", [code for code in Code if KINDS[code].category is Category.NETWORK])
def test_a_network_fault_is_retried_after_one_to_five_seconds(code: Code) -> None:
    (retry,) = (action for action in fault(code).actions if action.action == "retry")

    assert retry.suggested_delay_ms is not None
    assert 1_000 <= retry.suggested_delay_ms <= 5_000
    assert "three times" in retry.description


@requirement("000.3.recovery")
def test_a_rate_limit_is_waited_for() -> None:
    waits = [("wait_and_retry", 60_000, None, None), ("reduce_frequency", None, None, None), END]

    assert plan(Code.RATE_LIMIT_EXCEEDED) == waits
    assert plan(Code.BLOCKED_RATE_LIMITED) == waits
    assert plan(Code.BLOCKED_GEO_RESTRICTED) == [waits[0], END]


@requirement("000.3.recovery")
def test_only_an_expired_session_is_refreshed() -> None:
    assert plan(Code.AUTH_SESSION_EXPIRED) == [
        ("refresh_session", None, "refresh_session", None),
        ("retry", 1_000, None, None),
        LOG_IN,
        END,
    ]
    assert plan(Code.AUTH_INVALID_CREDENTIALS) == [END]
    assert plan(Code.AUTH_MISSING_SESSION) == [("use_saved_session", None, None, None), LOG_IN, END]


@requirement("000.3.recovery")
def test_a_challenge_and_a_page_of_scripts_go_to_a_better_tier() -> None:
    playwright = ("use_browser_tier", None, "browse", {"forceTier": "playwright"})
    lightweight = ("use_lightweight_tier", None, "browse", {"forceTier": "lightweight"})

    assert plan(Code.BLOCKED_BOT_DETECTION)[0] == playwright
    assert plan(Code.CONTENT_REQUIRES_JS)[:2] == [lightweight, playwright]


@requirement("000.3.recovery")
def test_other_content_faults_are_reported() -> None:
    others = [code for code in Code if KINDS[code].category is Category.CONTENT and not KINDS[code].retryable]

    assert {code: plan(code)[-1] for code in others} == dict.fromkeys(others, END)


@requirement("000.3.recovery")
def test_a_changed_site_is_read_afresh() -> None:
    assert plan(Code.SITE_STRUCTURE_CHANGED)[0] == ("fetch_fresh", None, "browse", {"freshnessRequirement": "realtime"})


@requirement("000.3.recovery")
@pytest.mark.parametrize("code", [code for code in Code if not KINDS[code].retryable])
def test_what_is_not_retryable_is_never_to_be_repeated_unchanged(code: Code) -> None:
    assert not {"retry", "wait_and_retry"} & {name for name, *_ in plan(code)}


@pytest.mark.parametrize("code", Code)
def test_every_code_recommends_something_the_first_thing_first(code: Code) -> None:
    priorities = [action.priority for action in fault(code).actions]

    assert priorities == sorted(priorities)
    assert priorities[0] == 1


def test_a_fault_is_what_its_code_stands_for() -> None:
    found = fault(Code.HTTP_NOT_FOUND, http_status=404)

    assert found == Fault(
        category=Category.HTTP,
        code=Code.HTTP_NOT_FOUND,
        message="The page does not exist.",
        retryable=False,
        actions=KINDS[Code.HTTP_NOT_FOUND].actions,
        http_status=404,
    )


def test_a_fault_takes_a_message_and_other_actions() -> None:
    action = Action(action="look", description="Look again.", priority=3)

    found = fault(Code.CONTENT_EMPTY, "Nothing there", actions=(action,), field="url")

    assert (found.message, found.actions, found.field) == ("Nothing there", (action,), "url")


@requirement("000.3.structured-error")
@pytest.mark.parametrize(
    ("url", "domain"),
    [("https://weft.test:8443/a", "weft.test"), ("http://[::1", None), ("nonsense", None)],
)
def test_a_fault_is_told_where_it_happened(url: str, domain: str | None) -> None:
    found = fault(Code.NETWORK_TIMEOUT).at(url=url, tier="lightweight", attempt=2)

    assert found.context == FaultContext(url=url, domain=domain, tier="lightweight", attempt_number=2)


@requirement("000.3.rate-limit-delay")
@pytest.mark.parametrize(
    ("asked", "delay", "words"),
    [
        (None, RATE_LIMIT_DELAY_MS, "Wait 60 seconds"),
        (0, 60_000, "Wait 60 seconds"),
        (1_500, 1_500, "Wait 1.5 seconds"),
    ],
)
def test_a_rate_limit_carries_its_delay(asked: int | None, delay: int, words: str) -> None:
    found = rate_limited("Too many requests", asked)

    assert (found.code, found.http_status, found.retry_after_ms) == (Code.RATE_LIMIT_EXCEEDED, 429, delay)
    assert [action.action for action in found.actions] == ["wait_and_retry", "reduce_frequency"]
    assert found.actions[0].description.startswith(words)


def test_a_fault_without_a_delay_suggests_none() -> None:
    assert fault(Code.HTTP_NOT_FOUND).retry_after_ms is None


@requirement("000.3.actions")
def test_an_action_is_written_with_its_priority_and_without_what_it_lacks() -> None:
    action = Action(action="retry", description="Again.")

    assert msgspec.json.decode(encode(action)) == {"action": "retry", "description": "Again.", "priority": 1}


@requirement("000.3.actions")
def test_an_action_is_written_in_the_words_of_the_edge() -> None:
    action = fault(Code.BLOCKED_BOT_DETECTION).actions[0]

    assert msgspec.json.decode(encode(action)) == {
        "action": "use_browser_tier",
        "description": action.description,
        "priority": 1,
        "toolToUse": "browse",
        "parameters": {"forceTier": "playwright"},
    }


def test_priorities_count_from_one() -> None:
    with pytest.raises(ValueError, match="priority counts from 1"):
        Action(action="retry", description="Again.", priority=0)


def test_the_error_carries_the_fault() -> None:
    error = FaultError(fault(Code.CONTENT_EMPTY))

    assert (str(error), error.fault) == ("CONTENT_EMPTY: The page has no text.", fault(Code.CONTENT_EMPTY))
