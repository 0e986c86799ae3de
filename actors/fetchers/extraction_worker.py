"""The worker process of the extractor: does one piece of work after the other, within bounds, until none comes."""

from __future__ import annotations

import importlib
import os
import pickle
import resource
import select
import signal
import struct
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from actors.fetchers import sandbox, system_calls
from protocol.faults import Code, FaultError, fault

MAX_BYTES = 400_000_000
"""What the process may hold in memory, in bytes."""

LENGTH = struct.Struct("!Q")
"""What precedes each message."""

_IDLE_SECONDS = 60.0
_FULL_BYTES = 150_000_000
"""Without work the process ends after a minute; at once when the last has left it this large."""

MAX_SECONDS = 1.8
"""Seconds of a processor that a piece of work may take: on a busy machine a page lasts longer, but costs no more."""


RESULT, FAULT, FAILURE = b"r", b"f", b"e"
"""What an answer begins with: the rest is MessagePack of the result, of a `Fault` or of a `WorkFailure`.

Whoever takes over this process writes what it likes: its caller reads data of one type, and no objects.
"""

MAX_ANSWER_BYTES = 200_000_000


class WorkFailure(Struct, frozen=True):
    """An error of the work that is no fault: its kind and trace, without its words, which may be a page's."""

    kind: str
    trace: str


_READABLE = (
    *("/usr/lib", "/usr/share/zoneinfo", "/lib", "/lib64", "/etc/localtime", "/etc/ld.so.cache", "/dev/urandom"),
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu"),
)


def lock_in() -> tuple[str, ...]:
    """Leave this process programs and modules to read, and nothing else; return what this machine lacks for that.

    What a library reads wrong in a page then opens no file of Weft's, no socket and no other process.
    """
    modules = {sys.prefix, sys.base_prefix, *(path for path in sys.path if path)}
    places = [(path, sandbox.READ) for path in (*_READABLE, *modules)]
    lacking: list[str] = []
    for layer in (
        sandbox.renounce,
        lambda: sandbox.confine((*places, ("/dev/null", sandbox.READ_AND_WRITE))),
        lambda: system_calls.filter_own(lambda audit, column: system_calls.for_engine(audit, column, os.getpid())),
        sandbox.renounce_capabilities,
    ):
        try:
            layer()
        except (OSError, KeyError, sandbox.SandboxError) as error:
            lacking.append(str(error))
    return tuple(lacking)


def main() -> None:
    """Answer the questions on standard input, until there are none."""
    if sys.platform == "linux":
        lock_in()
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    while (question := _received(incoming)) is not None:
        answer = _answer(question)
        outgoing.write(LENGTH.pack(len(answer)))
        outgoing.write(answer)
        outgoing.flush()
        if _memory()[0] > _FULL_BYTES:
            return


def load_module(module: str) -> None:
    """Import a module, and load what it needs, before the first page, which is not to pay for that.

    It is the program's own, so no limit of a page holds for it, on however slow a machine; the caller has a deadline.
    """
    signal.setitimer(signal.ITIMER_PROF, 0)
    loaded = importlib.import_module(module)
    if hasattr(loaded, "warm"):
        loaded.warm()


def run_within(seconds: float, work: Callable[[], object]) -> object:
    """Call `work` with a limit of its own on its processor time."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    return work()


def _received(incoming: BinaryIO) -> bytes | None:
    # Nothing is ever sent ahead, so the buffer of the stream is empty here.
    if not select.select([incoming], [], [], _IDLE_SECONDS)[0]:
        return None
    head = incoming.read(LENGTH.size)
    return incoming.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else None


def _answer(question: bytes) -> bytes:
    """Return the result of the work, or the fault that it ended in."""
    _bound()
    try:
        signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)  # its signal ends the process
        work: Callable[[], object] = pickle.loads(question)  # noqa: S301 - the caller of this process is the program
        return RESULT + msgspec.msgpack.encode(work())
    except FaultError as error:
        return FAULT + msgspec.msgpack.encode(error.fault)
    except MemoryError:
        return FAULT + msgspec.msgpack.encode(
            fault(Code.CONTENT_TOO_LARGE, "The page needs more memory to be read than any page may have.")
        )
    except Exception as error:  # noqa: BLE001 - this is the edge: the caller raises it
        failure = WorkFailure(type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
        return FAILURE + msgspec.msgpack.encode(failure)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _bound() -> None:
    resident, data = _memory()
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (data + max(MAX_BYTES - resident, 0), hard))


def _memory() -> tuple[int, int]:
    """Return the bytes of this process that are resident, and those that its limit counts (proc_pid_statm(5))."""
    fields = Path("/proc/self/statm").read_text("ascii").split()
    size = resource.getpagesize()
    return int(fields[1]) * size, int(fields[5]) * size
