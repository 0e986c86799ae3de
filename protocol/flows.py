"""Recorded flows: what was done in a browser session, step by step, so that it can be done again with other inputs."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field

from protocol.acting.tree import ElementMarks
from protocol.browse import stated_version
from protocol.browsers.operation_bases import BrowserSessionId

FLOW_PREFIX: Final = "flow_"
FLOW_BYTES: Final = 16
"""Random bytes of an id: nobody guesses one (128 bits)."""

MAX_FLOW_STEPS: Final = 100
"""What is recorded of a session at most; whoever does more records several flows."""

MAX_FLOWS: Final = 200
"""Flows that a caller keeps at most."""

MAX_NAME_CHARS: Final = 100
MAX_PARAMETERS: Final = 100
MAX_PARAMETER_CHARS: Final = 10_000
MAX_LABEL_CHARS: Final = 200

FlowId = Annotated[str, Meta(pattern=r"^flow_[A-Za-z0-9_-]{22}$(?!\n)")]
FlowName = Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARS, description="What it is called.")]
ParameterName = Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARS)]
ParameterValue = Annotated[str, Meta(max_length=MAX_PARAMETER_CHARS)]

ParameterType = Literal["text", "number", "email", "url", "tel", "date", "choice"]


class FlowTarget(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """The ways to an element: its role and name, the words that told it from its peers, its marks, and its place.

    `role` is the short one of 001. `place` is its place among those of its role (from 0). `others` are the names that
    its peers had: what is called so is none of its successors. Words of it may hold `{name}` for a parameter.
    """

    role: str
    name: str = ""
    context: str = ""
    marks: ElementMarks = ElementMarks()
    place: int = 0
    others: tuple[str, ...] = ()


class _Check(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="check"):
    """Something that must be true after a step. Words and addresses may hold `{name}` for a parameter."""


class AddressIs(_Check, frozen=True, kw_only=True, tag="address"):
    """The page has an address of this shape: `*` stands for a segment that names one thing of many."""

    host: str
    path: str
    query: tuple[str, ...] = ()
    """The names that the query has at least."""


class AnyAppears(_Check, frozen=True, kw_only=True, tag="appears"):
    """One of these stands on the page, by role and words."""

    nodes: tuple[tuple[str, str], ...]


class ElementGoes(_Check, frozen=True, kw_only=True, tag="goes"):
    """The element that was acted on is gone."""


class FieldHolds(_Check, frozen=True, kw_only=True, tag="holds"):
    """The field that was filled in holds what was put into it; of a secret, that it holds anything."""

    value: str = ""


class StateIs(_Check, frozen=True, kw_only=True, tag="state"):
    """The element that was acted on has a state, or has it not."""

    state: str
    on: bool


class DialogOpens(_Check, frozen=True, kw_only=True, tag="dialog"):
    """The page asks something in a dialog of the browser, which waits."""


FlowCheck = AddressIs | AnyAppears | ElementGoes | FieldHolds | StateIs | DialogOpens


class FlowStep(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One step: a tool of the browser with its arguments, what it is about, and what must be true after it.

    `arguments` are without elements, and without what was typed: that is the value of `parameter`. `target` is what has
    the focus where keys are pressed, `to` what something is dragged to. `site` is that of the page it was done on: on
    another one it is not done. `obstacle` says why it cannot be done again, where it cannot.
    """

    tool: str
    arguments: dict[str, Any] = {}
    target: FlowTarget | None = None
    to: FlowTarget | None = None
    parameter: str = ""
    checks: tuple[FlowCheck, ...] = ()
    site: str = ""
    obstacle: str = ""


class FlowParameter(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """An input: named after the label of its field. What is secret has no default: it was never recorded."""

    name: str
    label: str = ""
    type: ParameterType = "text"
    default: str | None = None
    required: bool = False
    secret: bool = False


class FlowDraft(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What was recorded so far: from the page at `url`; `full` where there was no room for more steps."""

    url: str = ""
    steps: tuple[FlowStep, ...] = ()
    parameters: tuple[FlowParameter, ...] = ()
    full: bool = False


class Flow(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A flow as it is kept: it begins at `url`; `created_at` in ms since the epoch."""

    flow_id: FlowId
    name: str
    url: str
    created_at: int
    steps: tuple[FlowStep, ...]
    parameters: tuple[FlowParameter, ...]
    schema_version: str = stated_version()


class FlowSummary(Struct, frozen=True, kw_only=True, rename="camel"):
    """A flow in a list."""

    flow_id: FlowId
    name: str
    url: str
    created_at: int
    steps: int
    parameters: tuple[FlowParameter, ...] = ()


class RecordFlow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """FLOW_RECORD: begin to record a browser session of `caller`; `at_need` opens it where there is none yet."""

    caller: str
    session: BrowserSessionId
    at_need: bool = False


class FlowRecording(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """FLOW_RECORD: what is done in this session from now on is recorded."""

    session_id: str
    url: str = ""
    schema_version: str = stated_version()


class KeepFlow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """FLOW_KEEP: end the recording of a session of `caller`, and keep it by a name; without one it is forgotten."""

    caller: str
    session: BrowserSessionId
    name: FlowName | None = None


class KeptRecording(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """FLOW_KEEP: the flow that was kept, None where the recording was forgotten."""

    flow: Flow | None = None
    schema_version: str = stated_version()


class AskFlow(Struct, frozen=True, kw_only=True):
    """FLOW_GET, FLOW_FORGET: a flow of `caller`, who finds no flow of anybody else."""

    flow_id: FlowId
    caller: str


class ListFlows(Struct, frozen=True, kw_only=True):
    """FLOW_LIST: the flows of `caller`, the newest first."""

    caller: str


class FlowList(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """FLOW_LIST: them."""

    # `omit_defaults` would leave out a plain ().
    flows: tuple[FlowSummary, ...] = field(default_factory=lambda: ())
    schema_version: str = stated_version()


class FlowForgotten(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """FLOW_FORGET: it is gone."""

    flow_id: str
    schema_version: str = stated_version()
