"""The suite's tools and prompts that want something of the client or its user first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from protocol.offers.offer import AskOffer, CallTool
from protocol.offers.results import InputRequest, InputRequired, Message, Messages, OfferedResult, Refused, Text
from tests.conformance.tools import said

INVALID_PARAMS = -32602

_STATE = "kept from round 1"
_NAME = {"name": {"type": "string"}}


def elicit(message: str, properties: dict[str, Any], required: tuple[str, ...] = ()) -> InputRequest:
    """Ask the user for a form."""
    schema = {"type": "object", "properties": properties, "required": list(required or properties)}
    return InputRequest(method="elicitation/create", params={"message": message, "requestedSchema": schema})


def sample(prompt: str, max_tokens: int = 100) -> InputRequest:
    """Ask the model of the client."""
    message = {"role": "user", "content": {"type": "text", "text": prompt}}
    return InputRequest(method="sampling/createMessage", params={"messages": [message], "maxTokens": max_tokens})


ROOTS = InputRequest(method="roots/list")

DEFAULTS: dict[str, Any] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}

_OPTIONS = ["option1", "option2", "option3"]
_TITLED = [{"const": f"value{number}", "title": f"Choice {number}"} for number in (1, 2, 3)]

ENUMS: dict[str, Any] = {
    "untitledSingle": {"type": "string", "enum": _OPTIONS},
    "titledSingle": {"type": "string", "oneOf": _TITLED},
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
}

_ACCOUNT: dict[str, Any] = {
    "username": {"type": "string", "description": "User's response"},
    "email": {"type": "string", "description": "User's email address"},
}
_CONFIRM = elicit("Please confirm", {"ok": {"type": "boolean"}})

Asking = Callable[[AskOffer], dict[str, InputRequest]]

ONE_ROUND: Mapping[str, Asking] = {
    "test_sampling": lambda asked: {"answer": sample(str(_argument(asked, "prompt")))},
    "test_elicitation": lambda asked: {"account": elicit(str(_argument(asked, "message")), _ACCOUNT)},
    "test_elicitation_sep1034_defaults": lambda _: {"form": elicit("Change what is not right", DEFAULTS)},
    "test_elicitation_sep1330_enums": lambda _: {"form": elicit("Choose", ENUMS)},
    "test_streaming_elicitation": lambda _: {"user_name": elicit("What is your name?", _NAME)},
    "test_input_required_result_elicitation": lambda _: {"user_name": elicit("What is your name?", _NAME)},
    "test_input_required_result_sampling": lambda _: {"capital_question": sample("What is the capital of France?")},
    "test_input_required_result_list_roots": lambda _: {"client_roots": ROOTS},
    "test_input_required_result_capabilities": lambda asked: {
        name: request
        for name, request, capability in (
            ("name", elicit("What is your name?", _NAME), "elicitation"),
            ("greeting", sample("Generate a greeting", 50), "sampling"),
        )
        if capability in asked.capabilities
    },
}
"""What these tools ask for, all at once; with the answers they are done."""

WITH_STATE: Mapping[str, Asking] = {
    "test_input_required_result_request_state": lambda _: {"confirm": _CONFIRM},
    "test_input_required_result_tampered_state": lambda _: {"confirm": _CONFIRM},
    "test_input_required_result_multiple_inputs": lambda _: {
        "user_name": elicit("What is your name?", _NAME),
        "greeting": sample("Generate a greeting", 50),
        "client_roots": ROOTS,
    },
}
"""The same, with a state that has to come back."""

_ROUNDS = {
    None: InputRequired(requests={"step1": elicit("Step 1: What is your name?", _NAME)}, state="1"),
    "1": InputRequired(
        requests={"step2": elicit("Step 2: What is your favorite color?", {"color": {"type": "string"}})}, state="2"
    ),
}


def ask(name: str, asked: AskOffer) -> OfferedResult | InputRequired | Refused:
    """Answer a call of a tool that wants something first."""
    if name == "test_input_required_result_multi_round":
        return _ROUNDS.get(asked.state) or said(f"Thank you: {asked.responses}")
    requests = {**ONE_ROUND, **WITH_STATE}[name](asked)
    if not requests.keys() <= asked.responses.keys():
        return InputRequired(requests=requests, state=_STATE if name in WITH_STATE else None)
    if name in WITH_STATE and asked.state != _STATE:
        return Refused(code=INVALID_PARAMS, message="This is another state")
    return said(f"Response: {asked.responses}", *(["state-ok"] if name in WITH_STATE else []))


def ask_for_prompt(asked: AskOffer) -> Messages | InputRequired:
    """Fill the prompt that wants something first."""
    if "user_context" not in asked.responses:
        question = elicit("What context should the prompt use?", {"context": {"type": "string"}})
        return InputRequired(requests={"user_context": question})
    text = f"Use this context: {asked.responses['user_context']}"
    return Messages(messages=(Message(role="user", content=Text(text=text)),))


def _argument(asked: AskOffer, name: str) -> object:
    return asked.do.arguments.get(name) if isinstance(asked.do, CallTool) else None
