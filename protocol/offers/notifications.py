"""What an offering actor tells without being asked."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta, Struct

from protocol.offers.offer import Prose, Uri
from protocol.offers.results import OfferedTask


class ResourceUpdated(Struct, frozen=True, kw_only=True, tag="resource_updated"):
    """A resource holds something else now."""

    uri: Uri


class TaskChanged(Struct, frozen=True, kw_only=True, tag="task_changed"):
    """A task of `caller`, done by `actor`, stands differently."""

    actor: str
    caller: str
    task: OfferedTask


class OfferNews(Struct, frozen=True, kw_only=True):
    """OFFER_NEWS: what has changed at an offering actor, for those who wait for it."""

    news: ResourceUpdated | TaskChanged


class LogLevel(StrEnum):
    """How much a line of a log matters, from the least (RFC 5424)."""

    DEBUG = "debug"
    INFO = "info"
    NOTICE = "notice"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"
    ALERT = "alert"
    EMERGENCY = "emergency"


class LogLine(Struct, frozen=True, kw_only=True, tag="log", omit_defaults=True):
    """A line of a log: any JSON."""

    level: LogLevel
    data: Any
    logger: Annotated[str, Meta(max_length=200)] = ""


class Step(Struct, frozen=True, kw_only=True, tag="step", omit_defaults=True):
    """How far the work is; `done` grows each time."""

    done: float
    total: float | None = None
    message: Prose = ""


class Said(Struct, frozen=True, kw_only=True):
    """OFFER_SAID: something about work that a replica of the gateway knows as `token`."""

    token: str
    says: LogLine | Step
