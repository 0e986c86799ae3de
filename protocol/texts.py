"""Texts of callers: what is made of collections, how it is configured, and how one stands after its lines (003)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct, structs

from protocol.agent import TransformType
from protocol.codec import encode
from protocol.collection_views import TextInfo
from protocol.collections import (
    ARTIFACT_PREFIX,
    CollectionLine,
    TextAsked,
    TextDeleted,
    TextEnded,
    TextStarted,
    TextStatus,
)
from protocol.documents import NonEmpty

MAX_TEXT_CHARS: Final = 400_000
"""What a kept text may have."""

MAX_TITLE_CHARS: Final = 300
MAX_TAGS: Final = 50

SAVED: Final = "note"
"""The type of a text that was kept as it came."""

FINAL: Final = frozenset({TextStatus.COMPLETED, TextStatus.FAILED, TextStatus.CANCELLED})

_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]')
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
_MAX_NAME_BYTES: Final = 120

Language = Annotated[str, Meta(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$(?!\n)")]
Name = Annotated[str, Meta(min_length=1, max_length=100)]
Day = Annotated[str, Meta(pattern=r"^\d{4}(-\d\d(-\d\d)?)?$(?!\n)")]


class TransformConfig(
    Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True
):
    """What every transform may be told.

    `focus` are words that it is to be about, `language` what a model is to write in (quotes stay as they are),
    `sources` those that alone count. `again` makes it anew where it was made before, `local_only` asks no model.
    """

    title: Annotated[str, Meta(max_length=MAX_TITLE_CHARS)] = ""
    focus: Annotated[str, Meta(max_length=500)] = ""
    language: Language | None = None
    sources: tuple[NonEmpty, ...] = ()
    again: bool = False
    local_only: bool = False


class ComparisonConfig(TransformConfig, frozen=True, kw_only=True):
    """`fields` are the rows that are wanted, in their order; without them those that most sources speak of."""

    fields: Annotated[tuple[Name, ...], Meta(max_length=40)] = ()
    count: Annotated[int, Meta(ge=1, le=60)] = 20
    """Rows at most, where `fields` names none."""


class TimelineConfig(TransformConfig, frozen=True, kw_only=True):
    """`since` and `until` bound the events: a year, a month or a day, both included."""

    count: Annotated[int, Meta(ge=1, le=300)] = 60
    since: Day | None = None
    until: Day | None = None


class BriefConfig(TransformConfig, frozen=True, kw_only=True):
    """`count` is the number of points."""

    count: Annotated[int, Meta(ge=1, le=30)] = 7


class ReportConfig(TransformConfig, frozen=True, kw_only=True):
    """`count` is the number of sentences of each source."""

    count: Annotated[int, Meta(ge=1, le=30)] = 5


class OutlineConfig(TransformConfig, frozen=True, kw_only=True):
    """`depth` is the deepest level of headings."""

    depth: Annotated[int, Meta(ge=1, le=6)] = 3
    count: Annotated[int, Meta(ge=1, le=100)] = 30
    """Headings of each source at most."""


class StudyGuideConfig(OutlineConfig, frozen=True, kw_only=True):
    """`questions` is the number of questions to answer for oneself."""

    questions: Annotated[int, Meta(ge=0, le=60)] = 10


class QuizConfig(TransformConfig, frozen=True, kw_only=True):
    """`count` is the number of questions, `choices` how many answers each has to choose from."""

    count: Annotated[int, Meta(ge=1, le=100)] = 10
    choices: Annotated[int, Meta(ge=2, le=6)] = 4


class FlashcardsConfig(TransformConfig, frozen=True, kw_only=True):
    """`count` is the number of cards."""

    count: Annotated[int, Meta(ge=1, le=300)] = 30


class TransformKind(Struct, frozen=True, kw_only=True, rename="camel"):
    """A row of the table of transforms: what it is called, what it makes, and the Struct of its config."""

    title: str
    description: str
    config: type[TransformConfig]


TRANSFORMS: Final[Mapping[TransformType, TransformKind]] = MappingProxyType(
    {
        TransformType.COMPARISON: TransformKind(
            title="Comparison",
            description="A table of what several sources say of the same things.",
            config=ComparisonConfig,
        ),
        TransformType.TIMELINE: TransformKind(
            title="Timeline", description="What happened when, in the order of time.", config=TimelineConfig
        ),
        TransformType.EXECUTIVE_BRIEF: TransformKind(
            title="Executive brief", description="The few points that matter most.", config=BriefConfig
        ),
        TransformType.REPORT: TransformKind(
            title="Report", description="What each source says, at some length.", config=ReportConfig
        ),
        TransformType.OUTLINE: TransformKind(
            title="Outline",
            description="The headings of the sources, and what stands first below each.",
            config=OutlineConfig,
        ),
        TransformType.STUDY_GUIDE: TransformKind(
            title="Study guide",
            description="An outline, terms with what they mean, and questions to answer.",
            config=StudyGuideConfig,
        ),
        TransformType.QUIZ: TransformKind(
            title="Quiz",
            description="Questions with answers to choose from, and the right ones at the end.",
            config=QuizConfig,
        ),
        TransformType.FLASHCARDS: TransformKind(
            title="Flashcards", description="Terms and what they mean, as the sides of cards.", config=FlashcardsConfig
        ),
    }
)
"""Every transform by its type (003 "Transforms")."""


def config_of(kind: TransformType, config: Mapping[str, Any]) -> TransformConfig:
    """Return the config of a transform.

    Raises:
        ValueError: a key that it does not have, or a value that is none; it is named.
    """
    try:
        return msgspec.convert(dict(config), TRANSFORMS[kind].config)
    except msgspec.ValidationError as error:
        msg = f"config of {kind.value}: {error}"
        raise ValueError(msg) from None


def config_hash(config: TransformConfig, again: str = "") -> str:
    """Return the hash of what a config asks for; `again` is what sets apart one that is to be made anew."""
    return sha256(encode(structs.replace(config, again=False)) + again.encode()).hexdigest()


def artifact_id(key: str, caller: str) -> str:
    """Return the id of a text by what makes it one: so that whoever asks again finds it."""
    return ARTIFACT_PREFIX + sha256(f"{key} {caller}".encode()).hexdigest()[:32]


class KeptText(Struct, frozen=True, kw_only=True):
    """A text after some of its lines; `info` has its words and citations, `attempt` counts those who have begun it."""

    info: TextInfo
    caller: str
    request: TextAsked
    attempt: int = 0


def text_after(text: KeptText | None, line: CollectionLine) -> KeptText | None:
    """Return a text after one more line; None where it is gone, or was never there.

    What is asked for again begins anew where it came to nothing; what is over stays as it is.
    """
    match line:
        case TextAsked() if text is None or text.info.status in {TextStatus.FAILED, TextStatus.CANCELLED}:
            return _begun(line)
        case TextStarted() if text is not None and text.info.status not in FINAL:
            started = text.info.started_at or line.at
            info = structs.replace(text.info, status=TextStatus.RUNNING, started_at=started, updated_at=line.at)
            return structs.replace(text, info=info, attempt=line.attempt)
        case TextEnded() if text is not None and text.info.status not in FINAL:
            return structs.replace(text, info=_ended(text.info, line))
        case TextDeleted():
            return None
        case _:
            return text


def _begun(line: TextAsked) -> KeptText:
    info = TextInfo(
        id=line.artifact,
        type=line.type,
        title=line.title,
        status=TextStatus.PENDING if line.markdown is None else TextStatus.COMPLETED,
        collection_id=line.collection,
        tags=line.tags,
        created_at=line.at,
        updated_at=line.at,
        ended_at=None if line.markdown is None else line.at,
        source_ids=line.sources,
        config=line.config,
        content_markdown=line.markdown or "",
        citations=line.citations,
    )
    return KeptText(info=info, caller=line.caller, request=line)


def _ended(info: TextInfo, line: TextEnded) -> TextInfo:
    return structs.replace(
        info,
        status=line.status,
        title=line.title or info.title,
        updated_at=line.at,
        ended_at=line.at,
        served_by=line.served_by,
        error=line.fault,
        content_markdown=line.markdown,
        citations=line.citations,
        unsupported=line.unsupported,
        why_local=line.why_local,
    )


# -- handing texts out -------------------------------------------------------------------------------------------------


class PrintPage(Struct, frozen=True, kw_only=True):
    """PRINT: print a page of our own as a PDF; it loads nothing, and no script of it runs."""

    html: str


class PrintedPage(Struct, frozen=True, kw_only=True):
    """The answer to PRINT."""

    pdf: bytes


class SharedFile(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A kept text as a file: `name` is its place in the store CAPTURES for a day, `uri` where a caller reads it."""

    name: str
    uri: str
    file_name: str
    media_type: str
    size: int
    target: Literal["file", "clipboard"]
    text: str = ""
    """The file itself, where it is for a clipboard."""


def safe_file_name(wanted: str, ending: str, otherwise: str) -> str:
    """Return a name for a file that is one on every system: no folder, no device, nothing hidden or unseen."""
    name = _UNSAFE.sub(" ", wanted).removesuffix(ending)
    name = " ".join(name.split()).strip(". ")
    name = name.encode()[:_MAX_NAME_BYTES].decode(errors="ignore").strip(". ")
    if not name or _RESERVED.match(name):
        name = otherwise
    return name + ending
