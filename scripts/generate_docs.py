"""Writes docs/reference and config/weft.toml from the code; with `--check` it compares them and fails."""

from __future__ import annotations

import argparse
import difflib
import inspect
import json
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, cast, get_args

import msgspec
from msgspec import NODEFAULT
from msgspec import inspect as types

from actors.actor import grant_like, grant_of, handlers
from actors.registry import GATEWAY, kinds
from bus.nats.server import accounts_block
from bus.permissions import EVERYTHING, OBSERVER, observer, onlooker
from protocol.actions import Action
from protocol.browse import BrowseOptions, BrowseResult, StructuredError
from protocol.documents import Content, Document
from protocol.faults import KINDS
from protocol.packets import Request, Response
from protocol.schemas import messages
from protocol.subject_kinds import Bucket, Call, Event, Journal, Objects, Subject, Work
from protocol.subjects import table
from scripts import decision_page, edge_pages, markdown

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
SETTINGS_FILE = ROOT / "config" / "weft.toml"
SETTINGS_FILE_WIDTH = 120
LARGE = 100_000
SHOWN_LINES = 40
WIDTH = 100

SUBJECTS_TEXT = (
    "Everything that is said on the bus, from `protocol/subjects.py`. A call is asked and answered once, an event is "
    "told, work is taken from a durable queue. The deadline is that of a caller who names none."
)
PERMISSIONS_TEXT = (
    "What each actor may publish and subscribe on NATS, and what it reaches of all that is kept, worked out from the "
    "subjects, buckets, stores and journals that it declares. `weft up` gives its own nats-server these accounts and "
    "users, each participant with two keys made at start: one for the bus, one for an account of its own, into which "
    "the account that keeps things answers. On a NATS that you run, a host that joins needs in one account what its "
    "actors need together, and what `supervisor` needs, which makes the streams; what is kept is then reached by "
    "`$JS.API` instead of `$JS.store.API`."
)
DATA_DIR = '"~/.local/share/weft"  # on Linux; on each platform its own user data folder'
SETTINGS_FILE_TEXT = (
    "Settings of Weft, each with its default. Take the # away to change one, or better: copy what you change into a "
    "file of your own for `weft --config FILE`. Later layers win: this file < --config FILE < WEFT_* variables < "
    "command line."
)
MESSAGES_TEXT = (
    "Every packet is JSON. A request carries its body in `input.task.args`, a response in `assistant`, `result` or "
    "`error`. The schemas are JSON Schema 2020-12."
)


def main() -> int:
    """Write the reference, or compare it with what stands there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is not what it should be")
    checking: bool = parser.parse_args().check
    wanted = {SETTINGS_FILE: settings_file(), **{REFERENCE / name: text for name, text in pages().items()}}
    stale = [path for path in _present() if path not in wanted]
    changed = [path for path, text in wanted.items() if _text(path) != text]
    if checking:
        return _complain(stale, changed, wanted)
    for path in stale:
        path.unlink()
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


def pages() -> dict[str, str]:
    """Make every file of the reference: its path below docs/reference, and its text."""
    schemas = {f"schemas/{name}.json": json.dumps(row, indent=2) + "\n" for name, row in messages().items()}
    return {
        "subjects.md": subjects_page(),
        "permissions.md": permissions_page(),
        "messages.md": messages_page(),
        "errors.md": errors_page(),
        "settings.md": settings_page(),
        "cli.md": cli_page(),
        "tools.md": edge_pages.tools_page(),
        "rest.md": edge_pages.rest_page(),
        "decisions.md": decision_page.decisions_page(),
        **schemas,
    }


def subjects_page() -> str:
    """Return who says what to whom."""
    answering, making = _actors()
    rows = [_subject_row(name, entry, answering, making) for name, entry in table() if isinstance(entry, Subject)]
    head = ("Name", "Subject", "Kind", "Sent", "Answer", "Idempotent", "Deadline", "Answered by", "Made by")
    return markdown.page("Subjects", [SUBJECTS_TEXT, markdown.table(head, rows), *_kept()])


def _kept() -> Iterator[str]:
    """Return what is kept on the server, kind by kind."""
    entries = list(table())
    yield "## Buckets"
    buckets = [(name, entry) for name, entry in entries if isinstance(entry, Bucket)]
    rows = [(name, f"`{one.name}`", _types(one.value), str(one.history), *_terms(one)) for name, one in buckets]
    yield markdown.table(("Name", "Bucket", "Value", "History", "Kept for", "Sealed"), rows)
    yield "## Object stores"
    stores = [(name, entry) for name, entry in entries if isinstance(entry, Objects)]
    files = [(name, f"`{one.name}`", _room(one), *_terms(one)) for name, one in stores]
    yield markdown.table(("Name", "Store", "Room", "Kept for", "Sealed"), files)
    yield "## Journals"
    journals = [(name, entry) for name, entry in entries if isinstance(entry, Journal)]
    rows = [(name, f"`{one.name}`", _types(one.line), _room(one), *_terms(one)) for name, one in journals]
    yield markdown.table(("Name", "Journal", "Line", "Room", "Kept for", "Sealed"), rows)


def _terms(entry: Bucket[Any] | Objects | Journal[Any]) -> tuple[str, str]:
    return markdown.ms(entry.ttl_ms), "yes" if entry.sealed else "no"


def _room(entry: Objects | Journal[Any]) -> str:
    return f"{entry.max_bytes:_} bytes"


def _types(kind: Any) -> str:
    """Name a type, or those of a union."""
    return ", ".join(f"`{one.__name__}`" for one in (get_args(kind) or (kind,)))


def _subject_row(
    name: str, entry: Subject[Any], answering: Mapping[str, list[str]], making: Mapping[str, list[str]]
) -> tuple[str, ...]:
    answers = _answer(entry)
    answer = f"`{answers.__name__}`" if answers else ""
    kind, idempotent, deadline = "subject", "", ""
    match entry:
        case Call():
            kind, idempotent, deadline = "call", "yes" if entry.idempotent else "no", markdown.ms(entry.timeout_ms)
        case Work():
            kind, deadline = "work", _work_limits(entry)
        case Event():
            kind = "event"
        case _:
            pass
    who = (", ".join(sorted(group.get(entry.pattern, []))) for group in (answering, making))
    return (name, f"`{entry.pattern}`", kind, f"`{entry.args.__name__}`", answer, idempotent, deadline, *who)


def _work_limits(work: Work[Any]) -> str:
    times = "again and again" if work.max_deliver is None else f"{work.max_deliver} times"
    return ", ".join([markdown.ms(work.ack_wait_ms), times, *_shares(work)])


def _shares(work: Work[Any]) -> list[str]:
    at_once = [f"{work.at_once} at once"] if work.at_once else []
    return [*at_once, *([f"{work.share} of a key in the queue"] if work.share else [])]


_KEYS = ("U...", "U...")


def permissions_page() -> str:
    """Return what each actor may say and hear, as nats-server reads it."""
    users = {"supervisor": (*_KEYS, EVERYTHING), "onlooker": (*_KEYS, onlooker()), OBSERVER: (*_KEYS, observer())}
    users |= {"stdio": (*_KEYS, grant_like("stdio", kinds()[GATEWAY]))}
    users |= {name: (*_KEYS, grant_of(kind)) for name, kind in kinds().items()}
    return markdown.page("Permissions", [PERMISSIONS_TEXT, f"```text\n{accounts_block(users)}\n```"])


def _actors() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Find the actors that answer or hear a pattern, and those that make it."""
    found = kinds()
    answering: dict[str, list[str]] = {}
    making: dict[str, list[str]] = {}
    for name, actor in found.items():
        for handler in handlers(actor):
            names = answering.setdefault(_form(handler.subject), [])
            names += [] if name in names else [name]
        for subject in actor.publishes:
            making.setdefault(_form(subject), []).append(name)
    return answering, making


def _answer(subject: Subject[Any]) -> type | None:
    return getattr(subject, "answer", None)


def _form(subject: Subject[Any]) -> str:
    return subject.form or subject.pattern


def messages_page() -> str:
    """Return what every message is made of."""
    index = [(f"`{name}`", f"[schema](schemas/{name}.json)") for name in messages()]
    parts = [
        MESSAGES_TEXT,
        markdown.table(("Message", "JSON Schema"), index),
        "## Types",
    ]
    for cls, rows in sorted(_structs().items(), key=lambda pair: pair[0].__name__):
        parts += [f"### {cls.__name__}", " ".join(inspect.cleandoc(cls.__doc__ or "").split())]
        parts += (
            [markdown.table(("Value",) if issubclass(cls, Enum) else ("Field", "Type", "Default", "Meaning"), rows)]
            if rows
            else []
        )
    return markdown.page("Messages", parts)


def _structs() -> dict[type, list[tuple[str, ...]]]:
    """Find every struct and enum that a message can hold, with its fields or values."""
    roots: list[Any] = [Request[Any], Response[Any], Document[Content], BrowseOptions, BrowseResult, StructuredError]
    for _, entry in table():
        match entry:
            case Bucket():
                roots.append(entry.value)
            case Journal():
                roots.append(entry.line)
            case Subject():
                roots += [entry.args, _answer(entry)]
            case Objects():
                pass
    found: dict[type, list[tuple[str, ...]]] = {}
    unread = list(types.multi_type_info(kind for kind in roots if kind is not None))
    while unread:
        info = unread.pop()
        unread += _parts(info)
        if isinstance(info, types.EnumType) and info.cls not in found:
            found[info.cls] = [(f"`{member.value}`",) for member in info.cls]
        if isinstance(info, types.StructType) and _plain(info.cls) not in found:
            found[_plain(info.cls)] = [_field_row(field) for field in info.fields]
            unread += [field.type for field in info.fields]
    return found


def _plain(cls: object) -> type:
    return cast("type", getattr(cls, "__origin__", cls))


def _field_row(field: types.Field) -> tuple[str, ...]:
    default = "required" if field.required else "left out"
    if field.default_factory is not NODEFAULT:
        default = f"`{json.dumps(msgspec.to_builtins(field.default_factory()))}`"
    elif field.default is not NODEFAULT:
        default = f"`{json.dumps(msgspec.to_builtins(field.default))}`"
    extra: dict[str, Any] = getattr(field.type, "extra_json_schema", None) or {}
    return (f"`{field.encode_name}`", _name(field.type), default, str(extra.get("description", "")))


def _parts(info: types.Type) -> list[types.Type]:
    match info:
        case types.Metadata():
            return [info.type]
        case types.UnionType():
            return list(info.types)
        case types.VarTupleType():
            return [info.item_type]
        case types.DictType():
            return [info.key_type, info.value_type]
        case _:
            return []


def _name(info: types.Type) -> str:  # noqa: PLR0911 - a line for each type
    """Write a type for a reader."""
    match info:
        case types.Metadata():
            return _name(info.type)
        case types.UnionType():
            return " or ".join(_name(member) for member in info.types)
        case types.VarTupleType():
            return f"list of {_name(info.item_type)}"
        case types.DictType():
            return f"object of {_name(info.value_type)}"
        case types.StructType() | types.EnumType():
            cls = _plain(info.cls)
            return f"[{cls.__name__}](#{cls.__name__.lower()})"
        case types.LiteralType():
            return " or ".join(f"`{json.dumps(value)}`" for value in info.values)
        case types.IntType() | types.FloatType():
            kind = "integer" if isinstance(info, types.IntType) else "number"
            limits = [f"≥ {info.ge}"] * (info.ge is not None) + [f"≤ {info.le}"] * (info.le is not None)
            return " ".join([kind, *limits])
        case _:
            words = {
                "StrType": "text",
                "BoolType": "true or false",
                "DateTimeType": "time (RFC 3339)",
                "NoneType": "null",
            }
            return words.get(type(info).__name__, "any JSON")


def errors_page() -> str:
    """Return what every error code means, and what to do next."""
    rows = [
        (f"`{code}`", f"`{kind.category}`", "yes" if kind.retryable else "no", kind.meaning, _steps(kind.actions))
        for code, kind in KINDS.items()
    ]
    text = "Every error has one of these codes. Its actions are to be tried in order; `tool` is the MCP tool to call."
    return markdown.page(
        "Errors", [text, markdown.table(("Code", "Category", "Retryable", "Meaning", "What to do"), rows)]
    )


def _steps(actions: Iterable[Action]) -> str:
    return "<br>".join(_step(action) for action in sorted(actions, key=lambda action: action.priority))


def _step(action: Action) -> str:
    hints = [f"after {markdown.ms(action.suggested_delay_ms)}"] * bool(action.suggested_delay_ms)
    hints += [f"tool `{action.tool_to_use}`"] * bool(action.tool_to_use)
    hints += [f"`{json.dumps(action.parameters)}`"] * bool(action.parameters)
    return f"{action.priority}. `{action.action}`: {action.description}" + (f" ({', '.join(hints)})" if hints else "")


def settings_page() -> str:
    """Return what an operator may choose."""
    from actors.settings import describe  # noqa: PLC0415 - only this page needs it

    rows = [
        (f"`{row.name}`", f"`{row.env}`", row.type, f"`{row.default}`" if row.default else "empty", row.description)
        for row in describe()
    ]
    text = (
        "A setting is read from its default, then `config/weft.toml`, then the file of `--config`, then the variable, "
        "then the option of the command line; the last one wins. In a file its name is the key."
    )
    return markdown.page(
        "Settings", [text, markdown.table(("Name and TOML key", "Variable", "Type", "Default", "Meaning"), rows)]
    )


def settings_file() -> str:
    """Return the file of settings that is shipped: each as a comment, with its meaning and its default."""
    from actors.settings import Settings, describe  # noqa: PLC0415 - only this file needs it

    defaults = {field.name: field.default for field in msgspec.structs.fields(Settings)}
    parts = [_comment(SETTINGS_FILE_TEXT)]
    for row in describe():
        value = DATA_DIR if row.name == "data_dir" else _toml(defaults[row.name])
        parts.append(f"{_comment(row.description)}\n# {row.name} = {value}")
    return "\n\n".join(parts) + "\n"


def _comment(text: str) -> str:
    return textwrap.fill(text, SETTINGS_FILE_WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def _toml(value: Any) -> str:
    """Write a default; the thousands of a large number stand apart."""
    return f"{value:_}" if type(value) is int and value >= LARGE else json.dumps(value)


def cli_page() -> str:
    """Return how the command is used, in its own words."""
    from typer.main import get_command  # noqa: PLC0415 - only this page needs it

    from actors.cli.verbs import app  # noqa: PLC0415 - as above

    parts: list[str] = []
    for path, text in _help(get_command(app), "weft", None):
        parts += [f"## `{path}`", f"```text\n{text}\n```"]
    return markdown.page("Command line", parts)


def _help(command: Any, name: str, parent: Any) -> Iterator[tuple[str, str]]:
    context = command.make_context(name, [], parent=parent, resilient_parsing=True, **_SAME_EVERYWHERE)
    lines = (line.rstrip() for line in command.get_help(context).splitlines())
    yield context.command_path, "\n".join(lines).strip()
    for child in getattr(command, "commands", {}).values():
        yield from _help(child, child.name, context)


_SAME_EVERYWHERE: dict[str, Any] = {"terminal_width": WIDTH, "max_content_width": WIDTH, "color": False}


def _present() -> list[Path]:
    return [path for path in sorted(REFERENCE.rglob("*")) if path.is_file()]


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _complain(stale: list[Path], changed: list[Path], wanted: Mapping[Path, str]) -> int:
    for path in stale:
        print(f"{path.relative_to(ROOT)}: nothing writes this file any more")
    for path in changed:
        name = path.relative_to(ROOT).as_posix()
        old, new = (_text(path) or "").splitlines(), wanted[path].splitlines()
        hint = list(difflib.unified_diff(old, new, name, f"{name} (from the code)", lineterm="", n=1))
        print("\n".join(hint[:SHOWN_LINES]))
    if stale or changed:
        print("The reference is not what the code says: run scripts/generate_docs.py")
    return 1 if stale or changed else 0


if __name__ == "__main__":
    sys.exit(main())
