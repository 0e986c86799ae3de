"""Locks a process in: Landlock, system calls, user, limits; by itself it becomes the light engine, see `arguments`.

Imports nothing that is slow: it runs in Pythons of its own, between a launch and its program.
"""

from __future__ import annotations

import os
import resource
import stat
import struct
import sys

from actors.fetchers import system_calls

TYPE_CHECKING = False  # importing typing, like signal or platform, would cost each start of the engine 10 ms
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

NOBODY: Final = 65534
"""The user and group that the program gets when the launcher is root."""

ROOT: Final = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))  # noqa: PTH118, PTH120 - pathlib is slow
"""Where a Python that knows of no package finds this one."""

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
    start = f"import sys; sys.path.append({ROOT!r}); from actors.fetchers import sandbox; sandbox.main(sys.argv[1:])"
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
    become(NOBODY)


def become(user: int) -> None:
    """Become a user and the group of the same number, for good; raises OSError."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def renounce_capabilities() -> None:
    """Drop every privilege of root's that this process has, for good; raises OSError."""
    header, none = struct.pack("=Ii", _CAPABILITIES_3, 0), struct.pack("=6I", *(0,) * 6)
    system_calls.call(system_calls.CAPSET[system_calls.MACHINES[os.uname().machine][2]], header, none)


def _tie(order: LaunchOrder) -> None:
    """Die with the parent; a change of user takes this back, so it comes after."""
    system_calls.prctl(system_calls.PR_SET_PDEATHSIG, _SIGKILL)
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
    renounce()


def renounce() -> None:
    """Take no privilege any more that a program would bring; raises OSError."""
    system_calls.prctl(_PR_SET_NO_NEW_PRIVS, 1)


_PR_SET_NO_NEW_PRIVS, _SIGKILL = 38, 9
_CAPABILITIES_3 = 0x2008_0522
"""The version of the call capset (capabilities(7))."""

# --- Landlock (landlock(7)) -------------------------------------------------------------------------------------------

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_FILE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 5
_MAKE_DIR, _MAKE_REG, _MAKE_SOCK = 1 << 7, 1 << 8, 1 << 9
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14
READ: Final = _EXECUTE | _READ_FILE | _READ_DIR
READ_AND_WRITE: Final = _READ_FILE | _WRITE_FILE | _READ_DIR
CHANGE: Final = ((1 << 15) - 1) & ~_EXECUTE
"""All that may be done with what lies in a folder, but to run it."""

_FS_RIGHTS: Final = ((1, (1 << 13) - 1), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
"""From which version of the interface on there are which rights: all, REFER, TRUNCATE, IOCTL_DEV."""
_NET_RIGHTS, _NET_SINCE, _CONNECT_TCP = 0b11, 4, 0b10
_RULE_OF_PLACE, _RULE_OF_PORT = 1, 2
_SCOPES, _SCOPES_SINCE = 0b11, 6
"""Abstract sockets, signals."""


def landlock_version() -> int:
    """Return the version of Landlock that the kernel has; 0: none."""
    try:
        return system_calls.call(_CREATE_RULESET, None, 0, 1)
    except OSError:
        return 0


def _landlock(order: LaunchOrder) -> None:
    confine(
        (
            (order.descriptor, _EXECUTE | _READ_FILE),
            *((path, READ) for path in (*_READABLE, *filter(None, order.readable.split(":")))),
            ("/dev/null", _READ_FILE | _WRITE_FILE),
            (".", _READ_FILE | _WRITE_FILE | _READ_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_SOCK),
        )
    )


def confine(places: Iterable[tuple[str | int, int]], port: int = 0) -> None:
    """Leave this process, for good, these files and folders with these rights, and TCP to one port, if any.

    A place is a path, which may be missing, or a descriptor. Signals and abstract sockets reach nobody outside.

    Raises:
        SandboxError: the kernel has no Landlock.
        OSError: it refuses.
    """
    version = landlock_version()
    if version == 0:
        raise SandboxError("the kernel has no Landlock")
    handled = sum(rights for since, rights in _FS_RIGHTS if version >= since)
    has_ports = version >= _NET_SINCE
    attributes = struct.pack(
        "=QQQ", handled, _NET_RIGHTS if has_ports else 0, _SCOPES if version >= _SCOPES_SINCE else 0
    )
    size = 24 if version >= _SCOPES_SINCE else 16 if has_ports else 8
    ruleset = system_calls.call(_CREATE_RULESET, attributes, size, 0)
    for place, rights in places:
        _permit(ruleset, place, rights & handled)
    if port and has_ports:
        system_calls.call(_ADD_RULE, ruleset, _RULE_OF_PORT, struct.pack("=QQ", _CONNECT_TCP, port), 0)
    system_calls.call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _permit(rules: int, place: str | int, rights: int) -> None:
    try:
        descriptor = place if isinstance(place, int) else os.open(place, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        rights &= _OF_FILES
    system_calls.call(_ADD_RULE, rules, _RULE_OF_PLACE, struct.pack("=Qi", rights, descriptor), 0)
    if descriptor != place:
        os.close(descriptor)


def _seccomp(_: LaunchOrder) -> None:
    system_calls.filter_own(lambda audit, column: system_calls.for_engine(audit, column, os.getpid()))


_KERNELS: Final = (_landlock, _seccomp)
"""The layers that a kernel may lack."""
