"""What a process may ask of the kernel: filters of system calls (seccomp(2)) for the machines that are known here.

Imports nothing that is slow, as the module of the sandbox.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

TYPE_CHECKING = False  # importing typing would cost each start of the engine 10 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final


class UnknownMachineError(OSError):
    """The numbers of this machine's system calls are not known here."""


PR_SET_PDEATHSIG: Final = 1

MACHINES: Final = {"x86_64": (0xC000003E, 317, 0), "aarch64": (0xC00000B7, 277, 1)}
"""Of each architecture: its number for the filter, that of the system call seccomp, and its column in the tables."""

CAPSET: Final = (126, 91)

_DENIED: Final = (
    # other processes
    *(
        (101, 117),
        (310, 270),
        (311, 271),
        (272, 97),
        (308, 268),
        (312, 272),
    ),  # ptrace vm_readv/writev unshare setns kcmp
    *((434, 434), (438, 438), (424, 424), (440, 440), (200, 130), (129, 138)),  # pidfds process_madvise tkill sigqueue
    *((144, 119), (142, 118), (314, 274), (251, 30), (256, 238), (279, 239), (448, 448)),  # their scheduling and pages
    *((57, -1), (58, -1), (141, 140), (203, 122), (135, 92)),  # fork vfork setpriority sched_setaffinity personality
    # file systems
    *((165, 40), (166, 39), (155, 41), (161, 51), (303, 264), (304, 265)),  # mount umount pivot_root chroot handles
    *((428, 428), (429, 429), (430, 430), (431, 431), (432, 432), (433, 433), (442, 442)),  # the new mount calls
    # what Landlock does not watch: owners, times, attributes, lengths by path
    *((92, -1), (93, 55), (94, -1), (260, 54), (188, 5), (189, 6), (190, 7), (197, 14), (198, 15), (199, 16)),
    *((132, -1), (235, -1), (261, -1), (280, 88), (76, 45)),
    *((254, 27), (300, 262), (301, 263)),  # who uses which file
    # the way out, and memory that no limit counts
    *((42, 203), (319, 279), (447, 447), (29, 194), (30, 196), (307, 269)),  # connect memfds shm sendmmsg
)

_OF_KERNEL: Final = (
    *((321, 280), (298, 241), (425, 425), (426, 426), (427, 427), (323, 282)),  # bpf perf io_uring userfaultfd
    *((250, 219), (248, 217), (249, 218), (175, 105), (313, 273), (176, 106)),  # keys modules
    *((246, 104), (320, 294), (169, 142), (163, 89), (167, 224), (168, 225), (179, 60)),  # kexec reboot acct swap quota
    *((103, 116), (172, -1), (173, -1), (159, 171), (305, 266), (227, 112), (164, 170)),  # syslog ports clocks
)

_PRETENDED: Final = ((90, -1), (91, 52), (268, 53), (452, 452))
"""Changes of modes, which Landlock does not watch: the engine insists on one for its socket, in a private folder."""

_SOCKET, _CLONE, _CLONE3 = (41, 198), (56, 220), (435, 435)
_KILL, _TGKILL, _TGSIGQUEUE = (62, 129), (234, 131), (297, 240)
_PRCTL, _PRLIMIT, _MMAP = (157, 167), (302, 261), (9, 222)

_X32_BIT: Final = 0x4000_0000
_CLONE_THREAD, _MAP_SHARED, _SOCK_STREAM, _SOCK_TYPES = 0x1_0000, 0x1, 0x1, 0xF
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_KILL_PROCESS, _ALLOW, _ERRNO = 0x8000_0000, 0x7FFF_0000, 0x0005_0000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06

Code = tuple[int, int, int, int]
"""An instruction: operation, steps to skip when true, when false, operand (the kernel's sock_filter)."""


def available() -> bool:
    """Return whether the kernel filters system calls, on a machine whose calls are known here."""
    machine = MACHINES.get(os.uname().machine)
    if machine is None:
        return False
    try:
        call(machine[1], 2, 0, struct.pack("=I", _ERRNO))
    except OSError:
        return False
    return True


def filter_own(rules: Callable[[int, int], list[Code]]) -> None:
    """Filter the system calls of this process for good; `rules` get the number of the machine and its column.

    Raises:
        OSError: the kernel refuses, or the machine is not known.
    """
    machine = MACHINES.get(os.uname().machine)
    if machine is None:
        raise UnknownMachineError("the system calls of this machine are not known")
    audit, seccomp, column = machine
    code = b"".join(struct.pack("=HBBI", *step) for step in rules(audit, column))
    held = ctypes.create_string_buffer(code, len(code))
    filters = struct.pack("@HP", len(code) // 8, ctypes.addressof(held))
    call(seccomp, 1, 0, filters)


def for_engine(audit: int, column: int, own: int) -> list[Code]:
    """Return the filter for the process `own`, which has no child and no network: the rest is refused or allowed."""
    code = _begin(audit)
    for numbers, argument, test, operand, otherwise in (
        (_CLONE, 0, _ANY_BIT, _CLONE_THREAD, errno.EPERM),
        (_KILL, 0, _EQUAL, own, errno.EPERM),
        (_TGKILL, 0, _EQUAL, own, errno.EPERM),
        (_TGSIGQUEUE, 0, _EQUAL, own, errno.EPERM),
        (_PRLIMIT, 0, _EQUAL, 0, errno.EPERM),
    ):
        code += _only_if(numbers[column], argument, (test, operand), otherwise)
    code += _unless(_MMAP[column], 3, (_ANY_BIT, _MAP_SHARED), errno.EPERM)
    code += _unless(_PRCTL[column], 0, (_EQUAL, PR_SET_PDEATHSIG), errno.EPERM)
    code += _sockets(_SOCKET[column])
    code += _refuse(_CLONE3[column], errno.ENOSYS)
    code += _refuse_all((*_DENIED, *_OF_KERNEL), column, errno.EPERM)
    code += _refuse_all(_PRETENDED, column, 0)
    return [*code, (_RETURN, 0, 0, _ALLOW)]


def for_browser(audit: int, column: int) -> list[Code]:
    """Return the filter for a browser with its children: streams alone reach the network; the kernel is left alone."""
    code = _begin(audit)
    code += _browser_sockets(_SOCKET[column])
    code += _refuse_all(_OF_KERNEL, column, errno.EPERM)
    return [*code, (_RETURN, 0, 0, _ALLOW)]


def _begin(audit: int) -> list[Code]:
    """End the process for calls of another kind of machine, and load the number of the call."""
    return [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, 0, 1, _X32_BIT),
        (_RETURN, 0, 0, _KILL_PROCESS),
    ]


def _refuse_all(table: tuple[tuple[int, int], ...], column: int, error: int) -> list[Code]:
    return [step for numbers in table if numbers[column] >= 0 for step in _refuse(numbers[column], error)]


def _refuse(number: int, error: int) -> list[Code]:
    return [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | error)]


def _only_if(number: int, argument: int, test: tuple[int, int], error: int) -> list[Code]:
    return [
        (_EQUAL, 0, 4, number),
        (_LOAD, 0, 0, 16 + 8 * argument),  # the low half: both machines are little-endian
        (test[0], 0, 1, test[1]),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERRNO | error),
    ]


def _unless(number: int, argument: int, test: tuple[int, int], error: int) -> list[Code]:
    return [
        (_EQUAL, 0, 4, number),
        (_LOAD, 0, 0, 16 + 8 * argument),
        (test[0], 0, 1, test[1]),
        (_RETURN, 0, 0, _ERRNO | error),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _sockets(number: int) -> list[Code]:
    """Allow streams between processes of this machine: a datagram needs no connection to get out."""
    return [
        (_EQUAL, 0, 7, number),
        (_LOAD, 0, 0, 16),
        (_EQUAL, 0, 4, _AF_UNIX),
        (_LOAD, 0, 0, 24),
        (_AND, 0, 0, _SOCK_TYPES),
        (_EQUAL, 0, 1, _SOCK_STREAM),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERRNO | errno.EAFNOSUPPORT),
    ]


def _browser_sockets(number: int) -> list[Code]:
    """Allow sockets of this machine, and streams of the Internet: datagrams would pass by the proxy."""
    return [
        (_EQUAL, 0, 10, number),
        (_LOAD, 0, 0, 16),
        (_EQUAL, 6, 0, _AF_UNIX),
        (_EQUAL, 5, 0, _AF_NETLINK),
        (_EQUAL, 1, 0, _AF_INET),
        (_EQUAL, 0, 4, _AF_INET6),
        (_LOAD, 0, 0, 24),
        (_AND, 0, 0, _SOCK_TYPES),
        (_EQUAL, 0, 1, _SOCK_STREAM),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERRNO | errno.EAFNOSUPPORT),
    ]


# --- calls ------------------------------------------------------------------------------------------------------------


def prctl(option: int, value: int) -> None:
    """Set a property of this process; raises OSError."""
    if _libc().prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def call(number: int, *values: int | bytes | None) -> int:
    """Make a system call that Python has no function for; raises OSError."""
    syscall: Callable[..., int] = _libc().syscall
    syscall.restype = ctypes.c_long  # type: ignore[attr-defined]
    result = syscall(
        ctypes.c_long(number), *(ctypes.c_long(value) if isinstance(value, int) else value for value in values)
    )
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
