"""The filter of system calls, run as the kernel would run it, for both kinds of machine."""

from __future__ import annotations

import errno
import struct
import sys
from typing import Any

import pytest

from actors.fetchers import sandbox, system_calls

ALLOWED, KILLED = 0x7FFF_0000, 0x8000_0000
PRETENDED = "done, it seems"
OWN = 4711
FOREIGN = 4712
THREAD = 0x3D0F00

X86, ARM = "x86_64", "aarch64"


def decide(machine: str, number: int, *arguments: int, audit: int | None = None, browser: bool = False) -> int | str:
    """Interpret the filter; give the name of the error, or what becomes of the process."""
    own_audit, _, column = system_calls.MACHINES[machine]
    code = system_calls.for_engine(own_audit, column, OWN)
    if browser:
        code = system_calls.for_browser(own_audit, column)
    values = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("<iIQ6Q", number, own_audit if audit is None else audit, 0, *values)
    answer = interpret(code, data)
    if answer in {ALLOWED, KILLED}:
        return answer
    return errno.errorcode.get(answer & 0xFFFF, PRETENDED)


def interpret(code: list[system_calls.Code], data: bytes) -> int:
    at = value = 0
    while True:
        operation, when_true, when_false, operand = code[at]
        at += 1
        match operation:
            case 0x20:
                (value,) = struct.unpack_from("<I", data, operand)
            case 0x54:
                value &= operand
            case 0x06:
                return operand
            case 0x15:
                at += when_true if value == operand else when_false
            case 0x35:
                at += when_true if value >= operand else when_false
            case 0x45:
                at += when_true if value & operand else when_false
            case _:
                raise AssertionError(operation)


ROWS: list[tuple[str, tuple[int, int], tuple[int, ...], Any]] = [
    ("read", (0, 63), (), ALLOWED),
    ("openat", (257, 56), (), ALLOWED),
    ("execve", (59, 221), (), ALLOWED),
    ("accept4", (288, 242), (), ALLOWED),
    ("socket of a stream", (41, 198), (1, 1), ALLOWED),
    ("socket of a stream, closed on exec", (41, 198), (1, 0o2004001), ALLOWED),
    ("socket of datagrams", (41, 198), (1, 2), "EAFNOSUPPORT"),
    ("socket of the Internet", (41, 198), (2, 1), "EAFNOSUPPORT"),
    ("socket of IPv6", (41, 198), (10, 2), "EAFNOSUPPORT"),
    ("connect", (42, 203), (), "EPERM"),
    ("thread", (56, 220), (THREAD,), ALLOWED),
    ("process", (56, 220), (17,), "EPERM"),
    ("clone3", (435, 435), (), "ENOSYS"),
    ("signal to itself", (62, 129), (OWN,), ALLOWED),
    ("signal to another", (62, 129), (FOREIGN,), "EPERM"),
    ("signal to all", (62, 129), (2**64 - 1,), "EPERM"),
    ("signal to a thread", (234, 131), (OWN, OWN + 1), ALLOWED),
    ("signal to a foreign thread", (234, 131), (FOREIGN, FOREIGN), "EPERM"),
    ("own limits", (302, 261), (0,), ALLOWED),
    ("foreign limits", (302, 261), (FOREIGN,), "EPERM"),
    ("memory of its own", (9, 222), (0, 1, 3, 0x22), ALLOWED),
    ("shared memory", (9, 222), (0, 1, 3, 0x21), "EPERM"),
    ("shared memory, checked", (9, 222), (0, 1, 3, 0x03), "EPERM"),
    ("name of a thread", (157, 167), (15,), ALLOWED),
    ("to outlive the parent", (157, 167), (1, 0), "EPERM"),
    ("chmod", (268, 53), (), PRETENDED),
    ("inotify_add_watch", (254, 27), (), "EPERM"),
    ("ptrace", (101, 117), (), "EPERM"),
    ("bpf", (321, 280), (), "EPERM"),
    ("mount", (165, 40), (), "EPERM"),
    ("keyctl", (250, 219), (), "EPERM"),
    ("unshare", (272, 97), (), "EPERM"),
    ("io_uring_setup", (425, 425), (), "EPERM"),
    ("userfaultfd", (323, 282), (), "EPERM"),
]


@pytest.mark.parametrize("machine", [X86, ARM])
@pytest.mark.parametrize(("name", "numbers", "arguments", "expected"), ROWS)
def test_a_call_is_allowed_or_refused(
    name: str, numbers: tuple[int, int], arguments: tuple[int, ...], expected: object, machine: str
) -> None:
    assert decide(machine, numbers[0 if machine == X86 else 1], *arguments) == expected, name


@pytest.mark.parametrize("machine", [X86, ARM])
def test_calls_of_another_machine_end_the_process(machine: str) -> None:
    other = system_calls.MACHINES[ARM if machine == X86 else X86][0]

    assert decide(machine, 0, audit=other) == KILLED
    assert decide(machine, 0, audit=0x40000003) == KILLED  # 32 bits
    assert decide(machine, 0x4000_0000 | 41, 2, 1) == KILLED  # x32


@pytest.mark.parametrize("machine", [X86, ARM])
def test_the_filter_fits_the_kernel(machine: str) -> None:
    audit, _, column = system_calls.MACHINES[machine]
    code = system_calls.for_engine(audit, column, OWN)

    assert len(code) <= 4096
    assert all(0 <= step <= 255 for _, *steps, _ in code for step in steps)
    assert code[-1] == (0x06, 0, 0, ALLOWED)


def test_an_order_is_a_command_without_a_site() -> None:
    order = sandbox.LaunchOrder(folder="/f", parent=1, report=2, lenient=True, readable="/a:/b", program="/p")

    command = sandbox.arguments(order, ("serve", "--x"))

    assert command[:4] == [sys.executable, "-I", "-S", "-c"]
    assert command[5:] == ["/f", "1", "2", "1", "/a:/b", "/p", "serve", "--x"]


@pytest.mark.parametrize("machine", [X86, ARM])
@pytest.mark.parametrize(
    ("numbers", "arguments", "expected"),
    [
        ((41, 198), (1, 2), ALLOWED),  # a socket of this machine
        ((41, 198), (16, 3), ALLOWED),  # netlink
        ((41, 198), (2, 0o2000001), ALLOWED),  # a stream of the Internet
        ((41, 198), (10, 1), ALLOWED),
        ((41, 198), (2, 2), "EAFNOSUPPORT"),  # datagrams
        ((41, 198), (10, 3), "EAFNOSUPPORT"),
        ((41, 198), (40, 1), "EAFNOSUPPORT"),  # of the machine's host
        ((272, 97), (0x1000_0000,), ALLOWED),  # a user namespace, for its own sandbox
        ((321, 280), (), "EPERM"),  # bpf
        ((425, 425), (), "EPERM"),  # io_uring
    ],
)
def test_a_browser_has_streams_alone_and_leaves_the_kernel_alone(
    machine: str, numbers: tuple[int, int], arguments: tuple[int, ...], expected: object
) -> None:
    column = system_calls.MACHINES[machine][2]

    assert decide(machine, numbers[column], *arguments, browser=True) == expected
