"""Locks itself in, then becomes Chromium: in a Python of its own, between Playwright's driver and the browser."""

from __future__ import annotations

import ctypes
import os
import resource
import sys

from actors.fetchers import sandbox, system_calls

TYPE_CHECKING = False  # as in the module of the sandbox
if TYPE_CHECKING:
    from typing import Final

BROWSER: Final = 65_533
"""The user and group of a browser whose launcher is root: no user of the system's, nor that of the light engine."""

PROGRAM: Final = "program"
PROFILE: Final = "profile"
"""Folders within that of the browser: its program, where no other user reaches that, and what it remembers."""

FILE_BYTES: Final = 1_000_000_000
"""Bytes of one file that a browser writes, such as a download, at most."""

LAYERS: Final = ("user", "landlock", "calls", "namespaces")
"""What may hold a browser, in the order in which it is put up; the last one is Chromium's own doing."""

_READABLE: Final = (
    *("/usr", "/lib", "/lib64", "/bin", "/opt/google", "/etc/fonts", "/etc/ssl", "/etc/ca-certificates", "/etc/pki"),
    *("/etc/ld.so.cache", "/etc/localtime", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts"),
    *(
        "/etc/mime.types",
        "/etc/os-release",
        "/etc/alternatives",
        "/etc/chromium",
        "/etc/opt/chrome",
        "/var/cache/fontconfig",
    ),
    *("/sys/devices", "/sys/bus", "/sys/class", "/sys/fs/cgroup", "/dev/urandom", "/dev/random", "/dev/zero"),
)
_NAMESPACES: Final = 0x1000_0000, 0x6000_0000
"""A user namespace first; then, with the rights that it gives, one of processes and one of the network."""

_PR_SET_DUMPABLE: Final = 4


def arguments(layers: tuple[str, ...], folder: str, program: str = "", port: int = 0) -> list[str]:
    """Return the command that becomes `program` behind these layers, or without one tells which layers hold here.

    `folder` is the one that the browser may write to, `port` the one of this machine that it may connect to. What
    follows the command are the arguments of the program.
    """
    start = f"import sys; sys.path.append({sandbox.ROOT!r}); from {__name__} import main; main()"
    return [sys.executable, "-I", "-S", "-c", start, ",".join(layers), folder, program, str(port)]


def main() -> None:
    """Carry out the order of the arguments; returns only where no program was asked for."""
    layers, folder, program, port, *options = sys.argv[1:]
    os.umask(0o077)
    for kind, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, FILE_BYTES)):
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (least, least))  # Python, and so its program, goes on after a write that fails for it
    os.chdir(folder)
    missing: list[str] = []
    for name, raise_layer in _LAYERS.items():
        if name in layers.split(","):
            try:
                raise_layer(folder, program, int(port))
            except (OSError, sandbox.SandboxError) as error:
                missing.append(f"{name}: {error}")
    if not program:
        sys.stdout.write("\n".join(missing))
        return
    if missing:
        sys.exit("; ".join(missing))
    own = [option for option in options if not option.startswith("--user-data-dir=")]
    os.execve(program, [program, *own, f"--user-data-dir={folder}/{PROFILE}"], dict(os.environ))  # noqa: S606


def _user(folder: str, _program: str, _port: int) -> None:
    for above, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if above != folder or name != PROGRAM]
        for name in (".", *files):
            os.chown(os.path.join(above, name), BROWSER, BROWSER, follow_symlinks=False)  # noqa: PTH118 - as above
    sandbox.become(BROWSER)
    os.listdir(folder)  # noqa: PTH208 - whether this user gets there


def _landlock(folder: str, program: str, port: int) -> None:
    sandbox.renounce()
    sandbox.confine(
        (
            *((path, sandbox.READ) for path in (*_READABLE, os.path.dirname(program) or "/usr")),  # noqa: PTH120
            ("/proc", sandbox.READ | sandbox.READ_AND_WRITE),  # where Chromium says who it is in its namespace
            ("/dev/null", sandbox.READ_AND_WRITE),
            (folder, sandbox.CHANGE),
        ),
        port,
    )


def _calls(_folder: str, _program: str, _port: int) -> None:
    sandbox.renounce()
    system_calls.filter_own(system_calls.for_browser)


def _namespaces(_folder: str, program: str, _port: int) -> None:
    """Try what Chromium's own sandbox will do; Chromium does it itself."""
    if program:
        return
    user, group, libc = os.getuid(), os.getgid(), ctypes.CDLL(None, use_errno=True)
    for flags in _NAMESPACES:
        if libc.unshare(flags) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        system_calls.prctl(_PR_SET_DUMPABLE, 1)  # else what /proc has of this process belongs to root
        if flags == _NAMESPACES[0]:
            for name, line in (
                ("setgroups", "deny"),
                ("uid_map", f"{user} {user} 1"),
                ("gid_map", f"{group} {group} 1"),
            ):
                file = os.open(f"/proc/self/{name}", os.O_WRONLY)
                os.write(file, line.encode())
                os.close(file)


_LAYERS: Final = dict(zip(LAYERS, (_user, _landlock, _calls, _namespaces), strict=True))
