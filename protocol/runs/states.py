"""The states of runs and steps, the transitions between them, and the numbers that bound them (002 §5 to §10)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Final

from msgspec import Meta

RUN_PREFIX: Final = "run_"
ARTIFACT_PREFIX: Final = "art_"
HANDLE_BYTES: Final = 16
"""Random bytes of an id: nobody guesses one (128 bits)."""

MAX_CONCURRENT_RUNS: Final = 5
MAX_RUN_TIMEOUT_MS: Final = 900_000
MAX_ARTIFACT_INLINE_BYTES: Final = 262_144
ARTIFACT_TTL_MS: Final = 86_400_000
"""Counted from the end of the run (002 §5)."""

MAX_TABS_PER_SESSION: Final = 20
POLL_MS: Final = 2_000
"""How often a client is to ask for a run that is under way (002 §4.2)."""

DEFAULT_THRESHOLD: Final = 0.5
"""The share of items that has to succeed where a template names none (002 §6)."""

DEFAULT_LISTED: Final = 20
MAX_LISTED: Final = 1_000
MAX_OFFSET: Final = 1_000_000
MAX_INPUT_BYTES: Final = 700_000
"""The JSON of a run's inputs at most: with what surrounds it, it has to fit into one message of NATS (1 MiB)."""

IDEMPOTENCY_MS: Final = 1_800_000
"""How long a key stands for the run that it began."""

RunId = Annotated[str, Meta(pattern=r"^run_[A-Za-z0-9_-]{22,86}$(?!\n)")]
ArtifactId = Annotated[str, Meta(pattern=r"^art_[A-Za-z0-9_-]{22,86}$(?!\n)")]
TemplateId = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,63}$(?!\n)")]
IdempotencyKey = Annotated[str, Meta(pattern=r"^[\x21-\x7e]{1,255}$(?!\n)")]


class RunStatus(StrEnum):
    """How a run stands; the last four are final (002 §6)."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"
    PARTIAL_SUCCESS = "partial_success"

    @property
    def final(self) -> bool:
        """Whether it never changes again."""
        return self in FINAL


FINAL: Final = frozenset({RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.CANCELED, RunStatus.PARTIAL_SUCCESS})


class StepStatus(StrEnum):
    """How a step stands; the last three are final (002 §6)."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"


class RunTrigger(StrEnum):
    """What can happen to a run as a whole."""

    CREATED = "created"
    TAKEN = "taken"
    CANCEL_REQUESTED = "cancel_requested"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"
    PARTIAL_SUCCESS = "partial_success"


class StepTrigger(StrEnum):
    """What can happen to a step."""

    BEGUN = "begun"
    LOST = "lost"
    """Its replica died; another begins it again."""

    CARRIED = "carried"
    """The run that this one was resumed from had done it."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"


_R, _S = RunStatus, StepStatus

RUN_TRANSITIONS: Final[Mapping[tuple[RunStatus | None, RunTrigger], RunStatus]] = MappingProxyType(
    {
        (None, RunTrigger.CREATED): _R.QUEUED,
        (_R.QUEUED, RunTrigger.CANCEL_REQUESTED): _R.QUEUED,
        # A run that is canceled before it begins does no step.
        (_R.QUEUED, RunTrigger.CANCELED): _R.CANCELED,
        (_R.QUEUED, RunTrigger.TAKEN): _R.RUNNING,
        # Its replica died, and another goes on.
        (_R.RUNNING, RunTrigger.TAKEN): _R.RUNNING,
        (_R.RUNNING, RunTrigger.CANCEL_REQUESTED): _R.RUNNING,
        (_R.RUNNING, RunTrigger.SUCCEEDED): _R.SUCCEEDED,
        (_R.RUNNING, RunTrigger.FAILED): _R.FAILED,
        (_R.RUNNING, RunTrigger.CANCELED): _R.CANCELED,
        (_R.RUNNING, RunTrigger.PARTIAL_SUCCESS): _R.PARTIAL_SUCCESS,
    }
)
"""The status of a run after a trigger; what is not here does not happen (002 §6)."""

STEP_TRANSITIONS: Final[Mapping[tuple[StepStatus, StepTrigger], StepStatus]] = MappingProxyType(
    {
        (_S.PENDING, StepTrigger.BEGUN): _S.RUNNING,
        (_S.PENDING, StepTrigger.CARRIED): _S.SUCCEEDED,
        (_S.PENDING, StepTrigger.SKIPPED): _S.SKIPPED,
        (_S.RUNNING, StepTrigger.LOST): _S.PENDING,
        (_S.RUNNING, StepTrigger.SUCCEEDED): _S.SUCCEEDED,
        (_S.RUNNING, StepTrigger.FAILED): _S.FAILED,
        # The time of the run is over.
        (_S.RUNNING, StepTrigger.SKIPPED): _S.SKIPPED,
    }
)
"""The status of a step after a trigger (002 §6); the ledger has only the end of a step."""


class IllegalTransitionError(ValueError):
    """A trigger that cannot happen to a run or a step in its status."""


def next_run_status(status: RunStatus | None, trigger: RunTrigger) -> RunStatus:
    """Look a transition of a run up; None is the status of one that is not created yet.

    Raises:
        IllegalTransitionError: there is none.
    """
    try:
        return RUN_TRANSITIONS[status, trigger]
    except KeyError:
        msg = f"{trigger} cannot happen to a run that is {status}"
        raise IllegalTransitionError(msg) from None


def next_step_status(status: StepStatus, trigger: StepTrigger) -> StepStatus:
    """Look a transition of a step up.

    Raises:
        IllegalTransitionError: there is none.
    """
    try:
        return STEP_TRANSITIONS[status, trigger]
    except KeyError:
        msg = f"{trigger} cannot happen to a step that is {status}"
        raise IllegalTransitionError(msg) from None


class Mode(StrEnum):
    """Whether a client waits for the end of the run it asks for (002 §4.1)."""

    SYNC = "sync"
    ASYNC = "async"
    AUTO = "auto"
    """As the template says."""


class TrustLevel(StrEnum):
    """Where a client sits: at this machine (stdio), or elsewhere (HTTP) (002 §9)."""

    LOCAL = "local"
    REMOTE = "remote"


class ArtifactType(StrEnum):
    """The forms in which a result is kept."""

    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    JSONL = "jsonl"
    """A line of JSON for each item."""

    ZIP = "zip"
    """A folder with a file of Markdown for each item, packed."""

    @property
    def media_type(self) -> str:
        """Its media type."""
        return _MEDIA[self]


_MEDIA: Final = {
    ArtifactType.JSON: "application/json",
    ArtifactType.CSV: "text/csv",
    ArtifactType.MARKDOWN: "text/markdown",
    ArtifactType.JSONL: "application/x-ndjson",
    ArtifactType.ZIP: "application/zip",
}
