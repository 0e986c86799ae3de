"""What the gate decides, row by row: the table of 003, what each surface changes, and what the operator says."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from actors.policy.rules import BY_RISK, GateEvidence, Judgement
from actors.policy.taint import TaintFinding
from actors.policy.targets import host_of, targets_of
from actors.policy.words import words_of
from actors.policy_file import POLICY_FORM, read_policy
from protocol.access import Scope
from protocol.policy import Decision, FieldFacts, FieldKind, Reason, Verb
from protocol.policy_rules import GateRules
from protocol.tools.registry import find
from protocol.tools.tool import Risk, Surface
from tests.requirements import requirement
from tests.unit.actors.policy.world import asks, button

ACTING = ("click", "type", "select", "scroll", "open_tab", "navigate", "back", "forward", "refresh")
COLLECTING = ("collection.create", "collection.add_sources", "collection.list_sources", "source.capture")
KEEPING = ("source.refresh", "transform.list_types", "transform.run", "artifact.save", "artifact.open")
SENSITIVE = (FieldKind.CREDENTIAL, FieldKind.PAYMENT, FieldKind.PERSONAL_ID)
SHIPPED = read_policy()


def judge(
    name: str,
    evidence: GateEvidence | None = None,
    *,
    surface: Surface = Surface.LLMCP,
    rules: str = "",
    **request: Any,
) -> Decision:
    """Return what is decided about a call; one of 003 is a model's."""
    return Judgement(
        tool=find(name, surface),
        request=asks(name, surface=surface, proposed=surface is Surface.LLMCP, **request),
        evidence=evidence or GateEvidence(),
        rules=SHIPPED if not rules else own(rules),
    ).decide()


def own(text: str) -> GateRules:
    """Lay a file over what is shipped."""
    file = POLICY_FORM.parse(text, "mine.toml")
    return SHIPPED.over(file, [f"mine.toml, line {number}" for number in range(len(file.rules))])


def on_field(kind: FieldKind) -> GateEvidence:
    """Return a call on a field of a kind."""
    return GateEvidence(element=button(tag="input"), kind=kind, kind_why="its type")


@requirement("003.tool-call.policy")
@pytest.mark.parametrize(
    ("name", "kind", "verb", "reason"),
    [
        ("browser.observe_dom", FieldKind.ORDINARY, Verb.ALLOW, Reason.OBSERVE_ALLOWED),
        ("browser.get_selection_links", FieldKind.ORDINARY, Verb.ALLOW, Reason.SELECTION_LINKS_ALLOWED),
        ("search", FieldKind.ORDINARY, Verb.ALLOW, Reason.SEARCH_ALLOWED),
        *((f"browser.{one}", kind, Verb.DENY, Reason.SENSITIVE_FIELD_BLOCKED) for one in ACTING for kind in SENSITIVE),
        *((f"browser.{one}", FieldKind.ORDINARY, Verb.ASK, Reason.ASSIST_REQUIRES_APPROVAL) for one in ACTING),
        ("app.calculate", FieldKind.ORDINARY, Verb.ALLOW, Reason.CALCULATE_ALLOWED),
        *((one, FieldKind.ORDINARY, Verb.ALLOW, Reason.COLLECTION_ALLOWED) for one in (*COLLECTING, *KEEPING)),
        ("artifact.share", FieldKind.ORDINARY, Verb.ASK, Reason.SHARE_REQUIRES_APPROVAL),
        ("integration.invoke", FieldKind.ORDINARY, Verb.ASK, Reason.SHARE_REQUIRES_APPROVAL),
    ],
)
def test_a_proposal_is_decided_by_the_table(name: str, kind: FieldKind, verb: Verb, reason: Reason) -> None:
    decision = judge(name, on_field(kind))

    assert (decision.decision, decision.reason_code) == (verb, reason)
    assert decision.why


@requirement("003.tool-call.policy")
def test_a_sensitive_query_is_asked_about_unless_the_caller_typed_it() -> None:
    private = GateEvidence(query="it holds an e-mail address")

    decisions = {surface: judge("search", private, surface=surface) for surface in Surface}

    for surface in (Surface.LLMCP, Surface.MCP):
        assert decisions[surface].reason_code is Reason.SEARCH_SENSITIVE_QUERY
        assert decisions[surface].decision is Verb.ASK
    assert decisions[Surface.REST].decision is Verb.ALLOW


@pytest.mark.parametrize("risk", Risk)
def test_every_risk_has_a_row(risk: Risk) -> None:
    assert risk in BY_RISK


@pytest.mark.parametrize(
    ("surface", "name", "kind", "verb", "reason"),
    [
        (Surface.MCP, "click", FieldKind.ORDINARY, Verb.ALLOW, Reason.CALLER_PREAPPROVED),
        (Surface.MCP, "click", FieldKind.PAYMENT, Verb.DENY, Reason.SENSITIVE_FIELD_BLOCKED),
        (Surface.MCP, "type_text", FieldKind.UNKNOWN, Verb.ALLOW, Reason.CALLER_PREAPPROVED),
        (Surface.MCP, "artifact_share", FieldKind.ORDINARY, Verb.ASK, Reason.SHARE_REQUIRES_APPROVAL),
        (Surface.MCP, "collection_delete", FieldKind.ORDINARY, Verb.ASK, Reason.DELETE_REQUIRES_APPROVAL),
        (Surface.REST, "artifact.share", FieldKind.ORDINARY, Verb.ALLOW, Reason.CALLER_PREAPPROVED),
        (Surface.REST, "type_text", FieldKind.CREDENTIAL, Verb.ALLOW, Reason.CALLER_PREAPPROVED),
        (Surface.CLI, "collection.delete", FieldKind.ORDINARY, Verb.ALLOW, Reason.CALLER_PREAPPROVED),
        (Surface.LLMCP, "browser.type", FieldKind.UNKNOWN, Verb.DENY, Reason.FIELD_UNKNOWN),
        (Surface.LLMCP, "browser.click", FieldKind.UNKNOWN, Verb.ASK, Reason.FIELD_UNKNOWN),
    ],
)
def test_each_surface_has_its_mode(surface: Surface, name: str, kind: FieldKind, verb: Verb, reason: Reason) -> None:
    decision = judge(name, on_field(kind), surface=surface)

    assert (decision.decision, decision.reason_code) == (verb, reason)


def test_where_a_site_is_assisted_nothing_secret_is_typed_for_anybody() -> None:
    evidence = structs.replace(on_field(FieldKind.PAYMENT), hosts=frozenset({"www.bank.example"}))

    decision = judge("type_text", evidence, surface=Surface.REST, rules=SITE.format("assist"))

    assert decision.reason_code is Reason.SENSITIVE_FIELD_BLOCKED


def test_a_proposal_is_one_wherever_it_comes_in() -> None:
    request = asks("click", {"element_id": "1"}, surface=Surface.REST, proposed=True)

    decision = Judgement(tool=find("click", Surface.REST), request=request, rules=SHIPPED).decide()

    assert decision.reason_code is Reason.ASSIST_REQUIRES_APPROVAL


def test_scope_and_place_of_the_caller_count() -> None:
    assert judge("search", scopes=(Scope.RUNS,)).reason_code is Reason.SCOPE_MISSING
    script = judge("execute_javascript", surface=Surface.MCP)
    assert (script.decision, script.reason_code) == (Verb.DENY, Reason.LOCAL_ONLY)
    assert judge("execute_javascript", surface=Surface.MCP, local=True).decision is Verb.ALLOW


TAINT = TaintFinding("url", "what is secret", "doc:web:1", "it carries what a page says")


@pytest.mark.parametrize(
    ("evidence", "verb", "reason"),
    [
        (GateEvidence(taints=(TAINT,)), Verb.ASK, Reason.TAINTED_ARGUMENT),
        (GateEvidence(unwanted=True), Verb.ASK, Reason.NOT_PERMITTED),
        (GateEvidence(taints=(TAINT,), granted=True), Verb.ASK, Reason.TAINTED_ARGUMENT),
        (structs.replace(on_field(FieldKind.PAYMENT), taints=(TAINT,)), Verb.DENY, Reason.SENSITIVE_FIELD_BLOCKED),
        (GateEvidence(granted=True), Verb.ALLOW, Reason.GRANTED),
        (structs.replace(on_field(FieldKind.PAYMENT), granted=True), Verb.DENY, Reason.SENSITIVE_FIELD_BLOCKED),
    ],
)
def test_deny_wins_then_ask(evidence: GateEvidence, verb: Verb, reason: Reason) -> None:
    decision = judge("browser.click", evidence)

    assert (decision.decision, decision.reason_code) == (verb, reason)
    assert decision.tainted == tuple(one.argument for one in evidence.taints)


def test_a_read_that_is_tainted_is_asked_about_too() -> None:
    assert judge("source.capture", GateEvidence(taints=(TAINT,))).reason_code is Reason.TAINTED_ARGUMENT


BANK = GateEvidence(hosts=frozenset({"www.bank.example"}))
SITE = '[[sites]]\nhosts = ["*.bank.example"]\nmode = "{}"\n'
RULE = '[[rules]]\ndecision = "{}"\nreason = "So says the operator."\n{}\n'


@pytest.mark.parametrize(
    ("rules", "surface", "name", "verb"),
    [
        (SITE.format("observe"), Surface.REST, "click", Verb.DENY),
        (SITE.format("observe"), Surface.REST, "observe_dom", Verb.ALLOW),
        (SITE.format("observe"), Surface.REST, "navigate", Verb.ALLOW),
        (SITE.format("observe"), Surface.LLMCP, "browser.navigate", Verb.ASK),
        (SITE.format("assist"), Surface.REST, "click", Verb.ASK),
        (SITE.format("off"), Surface.REST, "observe_dom", Verb.DENY),
        (SITE.format("preapproved"), Surface.LLMCP, "browser.click", Verb.ASK),
        ('[surfaces.llmcp]\nmode = "off"', Surface.LLMCP, "search", Verb.DENY),
        ('[surfaces.llmcp]\nmode = "preapproved"', Surface.LLMCP, "browser.click", Verb.ALLOW),
        ('[surfaces.rest]\nmode = "preapproved"\nask = ["search"]', Surface.REST, "search", Verb.ASK),
        (RULE.format("deny", 'tools = ["app.*"]'), Surface.CLI, "app.calculate", Verb.DENY),
        (RULE.format("deny", 'tools = ["browser.click"]'), Surface.MCP, "click", Verb.DENY),
        (RULE.format("deny", 'surfaces = ["mcp"]'), Surface.REST, "app.calculate", Verb.ALLOW),
        (RULE.format("ask", 'hosts = ["www.bank.example"]'), Surface.REST, "click", Verb.ASK),
        (RULE.format("allow", 'hosts = ["*.bank.example"]'), Surface.LLMCP, "browser.click", Verb.ALLOW),
        (RULE.format("allow", 'hosts = ["*.other.example"]'), Surface.LLMCP, "browser.click", Verb.ASK),
        (RULE.format("allow", "") + RULE.format("deny", ""), Surface.LLMCP, "browser.click", Verb.DENY),
    ],
)
def test_the_operator_has_a_say(rules: str, surface: Surface, name: str, verb: Verb) -> None:
    assert judge(name, BANK, surface=surface, rules=rules).decision is verb


def test_a_rule_that_allows_has_to_know_every_host() -> None:
    evidence = GateEvidence(hosts=frozenset({"www.bank.example", "evil.example"}))
    rule = RULE.format("allow", 'hosts = ["*.bank.example"]')

    assert judge("browser.click", evidence, rules=rule).decision is Verb.ASK


def test_no_rule_allows_what_is_sensitive() -> None:
    decision = judge("browser.type", on_field(FieldKind.CREDENTIAL), rules=RULE.format("allow", ""))

    assert decision.reason_code is Reason.SENSITIVE_FIELD_BLOCKED


def test_a_rule_of_the_operator_is_told_with_its_line() -> None:
    decision = judge("search", rules=RULE.format("deny", ""))

    assert (decision.why, decision.rule) == ("So says the operator.", "mine.toml, line 0")


@pytest.mark.parametrize(
    ("url", "refused"),
    [
        ("https://shop.example/a", False),
        ("http://shop.example/", False),
        ("shop.example/a", False),
        ("javascript:alert(1)", True),
        ("java\nscript:alert(1)", True),
        ("data:text/html,x", True),
        ("file:///etc/passwd", True),
        ("https://me:secret@shop.example/", True),
        ("http://127.0.0.1:8720/", True),
        ("http://169.254.169.254/latest/", True),
        ("http://[::1]/", True),
        ("http://localhost/", True),
        ("http://printer.local/", True),
        ("http://[", True),
    ],
)
def test_a_proposal_leads_to_addresses_of_the_web_alone(url: str, refused: bool) -> None:  # noqa: FBT001 - a parameter of the test
    evidence = GateEvidence(targets=targets_of({"url": url}, None))

    decision = judge("browser.navigate", evidence)

    expected = (Verb.DENY, Reason.URL_REFUSED) if refused else (Verb.ASK, Reason.ASSIST_REQUIRES_APPROVAL)
    assert (decision.decision, decision.reason_code) == expected


@pytest.mark.parametrize(
    ("element", "surface", "verb"),
    [
        (button(target="http://shop.example/pay", form_fields=("name",)), Surface.LLMCP, Verb.DENY),
        (button(target="http://shop.example/pay", form_fields=("name",)), Surface.MCP, Verb.DENY),
        (button(target="http://shop.example/pay", form_fields=("name",)), Surface.REST, Verb.ALLOW),
        (button(tag="a", target="file:///etc/passwd"), Surface.LLMCP, Verb.DENY),
        (button(tag="a", target="javascript:void(0)"), Surface.LLMCP, Verb.ASK),
        (button(tag="a", target="javascript:void(0)"), Surface.MCP, Verb.ALLOW),
        (button(tag="a", target="http://10.0.0.1/"), Surface.LLMCP, Verb.DENY),
        (button(tag="a", target="https://shop.example/next"), Surface.LLMCP, Verb.ASK),
    ],
)
def test_where_an_element_leads_counts(element: FieldFacts, surface: Surface, verb: Verb) -> None:
    evidence = GateEvidence(element=element, targets=targets_of({}, element), granted=surface is Surface.LLMCP)

    decision = judge("browser.click" if surface is Surface.LLMCP else "click", evidence, surface=surface)

    plain = element.target == "https://shop.example/next"
    assert decision.decision is (Verb.ALLOW if plain else verb)
    assert decision.expects == element.digest


@pytest.mark.parametrize(
    "url",
    [
        "https://WWW.Bank.example./a",
        "https://www.bank.example:8443",
        "https:\\\\www.bank.example/",
        "https://me@www.bank.example/",
        "https://www.bank%2eexample/",
        "https://www。bank。example/",
        "https://ｗｗｗ.bank.example/",
        "www.bank.example/a?b=https://other.example",
        " https://www.bank\t.example/",
    ],
)
def test_a_host_is_read_as_a_browser_reads_it(url: str) -> None:
    assert host_of(url) == "www.bank.example"


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("click", {"element_id": "7"}, "Click button “Buy now” on shop.example"),
        ("type_text", {"element_id": "7", "text": "tea", "submit": True},
         "Type “tea” into button “Buy now” on shop.example: submit True"),
        ("integration.invoke", {"integration": "crm", "operation": "add", "payload": {"n": 1}},
         "Have “crm” do “add” with {'n': 1}"),
        ("collection.delete", {"collectionId": "col_1"}, "Delete a collection with its sources: collectionId “col_1”"),
        ("navigate", {"url": "https://a.example/{x}"}, "Open “https://a.example/{x}” on shop.example"),
    ],
)  # fmt: skip
def test_a_person_reads_what_would_be_done(name: str, arguments: dict[str, Any], words: str) -> None:
    element = button() if "element_id" in arguments else None

    assert words_of(find(name, Surface.REST), arguments, element, "shop.example") == words
