"""Locks itself into a sandbox, then becomes the program it is to run, in a Python of its own: see `arguments`."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import stat
import struct
import sys

TYPE_CHECKING = False  # importing typing, like signal or platform, would cost each start of the engine 10 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

NOBODY: Final = 65534
"""The user and group that the program gets when the launcher is root."""

HOME: Final = "/proc/self/cwd"
"""The folder of the order, by a name that leads there whoever owns the folders above it."""

DATA_BYTES: Final = 600_000_000
FILE_BYTES: Final = 1_000_000
OPEN_FILES: Final = 512

_READABLE: Final = (
    *("/usr/lib", "/lib", "/lib64", "/usr/share/zoneinfo", "/etc/localtime", "/etc/ssl", "/etc/ld.so.cache"),
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/sys/fs/cgroup", "/dev/urandom"),
)


class LaunchOrder:
    """What to run and how."""

    __slots__ = ("descriptor", "folder", "lenient", "parent", "program", "readable", "report")

    def __init__(  # noqa: PLR0913 - the arguments of a program
        self, *, folder: str, parent: int, report: int, lenient: bool, readable: str = "", program: str
    ) -> None:
        """Store the order.

        `folder` is the only one that the program may write to: its home. `parent` is the process that must live, or
        the program ends. `report` is a descriptor that says why there is no program, and is closed without a word when
        there is. `lenient` leaves out layers that this kernel lacks; else they end the launcher. `readable` are further
        files and folders that may be read and run, separated by colons.
        """
        self.folder = folder
        self.parent = parent
        self.report = report
        self.lenient = lenient
        self.readable = readable
        self.program = program
        self.descriptor = -1


class SandboxError(Exception):
    """A layer of the sandbox that could not be set up: its name and why."""


def arguments(order: LaunchOrder, options: tuple[str, ...]) -> list[str]:
    """Return the command that carries out an order."""
    start = f"import sys; sys.path.append({os.path.dirname(__file__)!r}); import sandbox; sandbox.main(sys.argv[1:])"  # noqa: PTH120 - pathlib is slow to import
    fields = (order.folder, order.parent, order.report, int(order.lenient), order.readable, order.program)
    return [sys.executable, "-I", "-S", "-c", start, *map(str, fields), *options]


def main(argv: list[str]) -> None:
    """Carry out an order; returns only when there will be no program."""
    folder, parent, report, lenient, readable, program, *options = argv
    order = LaunchOrder(
        folder=folder,
        parent=int(parent),
        report=int(report),
        lenient=lenient == "1",
        readable=readable,
        program=program,
    )
    os.set_inheritable(order.report, False)  # noqa: FBT003 - takes nothing by name
    try:
        _run(order, [program, *options])
    except (OSError, SandboxError) as error:
        os.write(order.report, str(error).encode()[:1000])
        sys.exit(1)


def _run(order: LaunchOrder, command: list[str]) -> None:
    # Before the user changes, who may not pass the folders above them.
    order.descriptor = os.open(order.program, os.O_RDONLY | os.O_CLOEXEC)
    os.chdir(order.folder)
    os.umask(0o077)
    for name, layer in (
        ("user", _drop),
        ("parent", _tie),
        ("limits", _limit),
        ("privileges", _renounce),
        ("landlock", _landlock),
        ("seccomp", _seccomp),
    ):
        try:
            layer(order)
        except (OSError, SandboxError) as error:
            if not order.lenient or layer not in _KERNELS:
                raise SandboxError(f"{name}: {error}") from error
    os.execve(  # noqa: S606 - the program has no shell to go through
        order.descriptor,
        command,
        {"LIGHTPANDA_DISABLE_TELEMETRY": "true", "HOME": HOME, "TMPDIR": HOME, "LANG": "C.UTF-8"},
    )


# --- user, parent, limits ---------------------------------------------------------------------------------------------


def _drop(_: LaunchOrder) -> None:
    if os.geteuid() != 0:
        return
    os.chown(".", NOBODY, NOBODY)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def _tie(order: LaunchOrder) -> None:
    """Die with the parent; a change of user takes this back, so it comes after."""
    _prctl(_PR_SET_PDEATHSIG, _SIGKILL)
    if os.getppid() != order.parent:
        raise SandboxError("the parent has died")


def _limit(_: LaunchOrder) -> None:
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_DATA, DATA_BYTES),
    ):
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (least, least))


def _renounce(_: LaunchOrder) -> None:
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


# --- Landlock (landlock(7)) -------------------------------------------------------------------------------------------

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_FILE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 5
_MAKE_DIR, _MAKE_REG, _MAKE_SOCK = 1 << 7, 1 << 8, 1 << 9
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE
_FS_RIGHTS: Final = ((1, (1 << 13) - 1), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
"""From which version of the interface on there are which rights: all, REFER, TRUNCATE, IOCTL_DEV."""
_NET_RIGHTS, _NET_SINCE = 0b11, 4
_SCOPES, _SCOPES_SINCE = 0b11, 6
"""Abstract sockets, signals."""


def landlock_version() -> int:
    """Return the version of Landlock that the kernel has; 0: none."""
    try:
        return _syscall(_CREATE_RULESET, None, 0, 1)
    except OSError:
        return 0


def _landlock(order: LaunchOrder) -> None:
    version = landlock_version()
    if version == 0:
        raise SandboxError("the kernel has no Landlock")
    handled = sum(rights for since, rights in _FS_RIGHTS if version >= since)
    attributes = struct.pack(
        "=QQQ", handled, _NET_RIGHTS if version >= _NET_SINCE else 0, _SCOPES if version >= _SCOPES_SINCE else 0
    )
    size = 24 if version >= _SCOPES_SINCE else 16 if version >= _NET_SINCE else 8
    rules = _syscall(_CREATE_RULESET, attributes, size, 0)
    _permit(rules, order.descriptor, _EXECUTE | _READ_FILE)
    for path in (*_READABLE, *filter(None, order.readable.split(":"))):
        _permit(rules, path, _EXECUTE | _READ_FILE | _READ_DIR)
    _permit(rules, "/dev/null", _READ_FILE | _WRITE_FILE)
    _permit(rules, ".", _READ_FILE | _WRITE_FILE | _READ_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_SOCK)
    _syscall(_RESTRICT_SELF, rules, 0)
    os.close(rules)


def _permit(rules: int, place: str | int, rights: int) -> None:
    try:
        descriptor = place if isinstance(place, int) else os.open(place, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        rights &= _OF_FILES
    _syscall(_ADD_RULE, rules, 1, struct.pack("=Qi", rights, descriptor), 0)
    if descriptor != place:
        os.close(descriptor)


# --- seccomp (seccomp(2)) ---------------------------------------------------------------------------------------------


MACHINES: Final = {"x86_64": (0xC000003E, 317, 0), "aarch64": (0xC00000B7, 277, 1)}
"""Of each architecture: its number for the filter, that of the system call seccomp, and its column in the tables."""

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
    # the kernel
    *((321, 280), (298, 241), (425, 425), (426, 426), (427, 427), (323, 282)),  # bpf perf io_uring userfaultfd
    *((250, 219), (248, 217), (249, 218), (175, 105), (313, 273), (176, 106)),  # keys modules
    *((246, 104), (320, 294), (169, 142), (163, 89), (167, 224), (168, 225), (179, 60)),  # kexec reboot acct swap quota
    *((103, 116), (172, -1), (173, -1), (159, 171), (305, 266), (227, 112), (164, 170)),  # syslog ports clocks
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

_PRETENDED: Final = ((90, -1), (91, 52), (268, 53), (452, 452))
"""Changes of modes, which Landlock does not watch: the engine insists on one for its socket, in a private folder."""

_SOCKET, _CLONE, _CLONE3 = (41, 198), (56, 220), (435, 435)
_KILL, _TGKILL, _TGSIGQUEUE = (62, 129), (234, 131), (297, 240)
_PRCTL, _PRLIMIT, _MMAP = (157, 167), (302, 261), (9, 222)

_X32_BIT: Final = 0x4000_0000
_CLONE_THREAD, _MAP_SHARED, _SOCK_STREAM, _SOCK_TYPES = 0x1_0000, 0x1, 0x1, 0xF
_AF_UNIX = 1
_KILL_PROCESS, _ALLOW, _ERRNO = 0x8000_0000, 0x7FFF_0000, 0x0005_0000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06

Code = tuple[int, int, int, int]
"""An instruction: operation, steps to skip when true, when false, operand (the kernel's sock_filter)."""


def seccomp_available() -> bool:
    """Return whether the kernel filters system calls, on a machine whose calls are known here."""
    machine = MACHINES.get(os.uname().machine)
    if machine is None:
        return False
    try:
        _syscall(machine[1], 2, 0, struct.pack("=I", _ERRNO))
    except OSError:
        return False
    return True


def _seccomp(_: LaunchOrder) -> None:
    machine = MACHINES.get(os.uname().machine)
    if machine is None:
        raise SandboxError("the system calls of this machine are not known")
    audit, seccomp, column = machine
    code = b"".join(struct.pack("=HBBI", *step) for step in rules(audit, column, os.getpid()))
    held = ctypes.create_string_buffer(code, len(code))
    filters = struct.pack("@HP", len(code) // 8, ctypes.addressof(held))
    _syscall(seccomp, 1, 0, filters)


def rules(audit: int, column: int, own: int) -> list[Code]:
    """Return the filter for the process `own`: foreign calls end it, the rest is refused or allowed."""
    code: list[Code] = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, 0, 1, _X32_BIT),
        (_RETURN, 0, 0, _KILL_PROCESS),
    ]
    for numbers, argument, test, operand, otherwise in (
        (_CLONE, 0, _ANY_BIT, _CLONE_THREAD, errno.EPERM),
        (_KILL, 0, _EQUAL, own, errno.EPERM),
        (_TGKILL, 0, _EQUAL, own, errno.EPERM),
        (_TGSIGQUEUE, 0, _EQUAL, own, errno.EPERM),
        (_PRLIMIT, 0, _EQUAL, 0, errno.EPERM),
    ):
        code += _only_if(numbers[column], argument, (test, operand), otherwise)
    code += _unless(_MMAP[column], 3, (_ANY_BIT, _MAP_SHARED), errno.EPERM)
    code += _unless(_PRCTL[column], 0, (_EQUAL, _PR_SET_PDEATHSIG), errno.EPERM)
    code += _sockets(_SOCKET[column])
    code += _refuse(_CLONE3[column], errno.ENOSYS)
    for table, error in ((_DENIED, errno.EPERM), (_PRETENDED, 0)):
        for numbers in table:
            if numbers[column] >= 0:
                code += _refuse(numbers[column], error)
    return [*code, (_RETURN, 0, 0, _ALLOW)]


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


_KERNELS: Final = (_landlock, _seccomp)
"""The layers that a kernel may lack."""


# --- calls ------------------------------------------------------------------------------------------------------------

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _SIGKILL = 1, 38, 9


def _prctl(option: int, value: int) -> None:
    if _libc().prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _syscall(number: int, *values: int | bytes | None) -> int:
    call: Callable[..., int] = _libc().syscall
    call.restype = ctypes.c_long  # type: ignore[attr-defined]
    result = call(
        ctypes.c_long(number), *(ctypes.c_long(value) if isinstance(value, int) else value for value in values)
    )
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
