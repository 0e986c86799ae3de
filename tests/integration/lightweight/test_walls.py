"""Each wall of the sandbox holds against a program that tries to get out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from actors.fetchers import sandbox
from actors.fetchers.lightweight import engine_process

TIMEOUT = 20
ANYBODYS = next((path for path in ("/usr/bin/python3", sys.executable) if Path(path).exists()), "")
"""A Python that any user may run."""

pytestmark = pytest.mark.skipif(
    not all(wall.present for wall in engine_process.sandbox_layers()), reason="this kernel lacks walls of the sandbox"
)

PROBE = """
import ctypes, errno, json, mmap, os, resource, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
found = {}
def attempt(name, call):
    try:
        found[name] = ['ok', call()]
    except MemoryError:
        found[name] = ['MemoryError', None]
    except ValueError:
        found[name] = ['ValueError', None]
    except OSError as error:
        found[name] = [errno.errorcode.get(error.errno, '?'), None]
def system(name, *numbers):
    code = numbers[0] if os.uname().machine == 'x86_64' else numbers[1]
    def call():
        if libc.syscall(code, *numbers[2:]) < 0:
            raise OSError(ctypes.get_errno(), '')
    attempt(name, call)
parent, outside, abstract = int(sys.argv[1]), sys.argv[2], sys.argv[3]
"""


def probe(code: str) -> dict[str, list[Any]]:
    """Run code behind the walls; give what came of each attempt in it."""
    with folder() as private, folder() as outside:
        home = private / "home"  # whose user may not pass the folder above it
        home.mkdir()
        secret = outside / "secret"
        secret.write_text("secret")
        secret.chmod(0o644)
        outside.chmod(0o777)  # only Landlock is to stand before it
        whole = f"{PROBE}\n{code}\nprint(json.dumps(found))"
        command = ("-I", "-S", "-c", whole, str(os.getpid()), str(outside), "weft-abstract")
        done, why = launch(home, command)
        assert why == ""
        assert (secret.read_text(), secret.stat().st_mode & 0o777) == ("secret", 0o644)
        found: dict[str, list[Any]] = json.loads(done)
        return found


def launch(
    home: Path, command: tuple[str, ...], *, lenient: bool = False, parent: int = 0, launcher: tuple[str, ...] = ()
) -> tuple[bytes, str]:
    program = str(Path(ANYBODYS).resolve())
    reading, writing = os.pipe()
    readable = f"{program}:{Path(program).parents[1] / 'lib'}"
    order = sandbox.LaunchOrder(
        folder=str(home),
        parent=parent or os.getpid(),
        report=writing,
        lenient=lenient,
        readable=readable,
        program=program,
    )
    with os.fdopen(reading, "rb") as report:
        try:
            whole = sandbox.arguments(order, command)
            whole[3:5] = launcher or whole[3:5]
            done = subprocess.run(whole, pass_fds=(writing,), stdout=subprocess.PIPE, timeout=TIMEOUT, check=False)
        finally:
            os.close(writing)
        return done.stdout, report.read().decode()


@contextmanager
def folder() -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="weft-walls-", dir="/tmp") as path:
        yield Path(path)


def outcomes(found: dict[str, list[Any]]) -> dict[str, str]:
    return {name: outcome[0] for name, outcome in found.items()}


def test_files_outside_can_neither_be_read_nor_changed() -> None:
    found = probe("""
secret = outside + '/secret'
attempt('read', lambda: open(secret).read())
attempt('write', lambda: open(secret, 'w').close())
attempt('append', lambda: os.open(secret, os.O_WRONLY | os.O_APPEND))
attempt('list', lambda: os.listdir(outside))
attempt('make', lambda: open(outside + '/new', 'w').close())
attempt('folder', lambda: os.mkdir(outside + '/new'))
attempt('remove', lambda: os.remove(secret))
attempt('rename', lambda: os.rename(secret, outside + '/other'))
attempt('link', lambda: os.link(secret, 'mine'))
attempt('truncate', lambda: os.truncate(secret, 0))
attempt('times', lambda: os.utime(secret, (0, 0)))
system('watch', 254, 27, 0, outside.encode(), 2)
attempt('owner', lambda: os.chown(secret, os.getuid(), -1))
attempt('passwd', lambda: open('/etc/passwd').read())
attempt('environment', lambda: open(f'/proc/{parent}/environ').read())
attempt('root', lambda: os.listdir('/'))
attempt('tmp', lambda: os.listdir('/tmp'))
""")

    assert set(outcomes(found).values()) <= {"EACCES", "EPERM", "EXDEV"}


def test_a_change_of_mode_is_only_pretended() -> None:
    found = probe("attempt('mode', lambda: os.chmod(outside + '/secret', 0))")

    assert outcomes(found) == {"mode": "ok"}


def test_in_its_own_folder_it_makes_sockets_and_no_files() -> None:
    found = probe("""
attempt('listen', lambda: socket.socket(socket.AF_UNIX).bind(os.environ['HOME'] + '/s'))
attempt('file', lambda: open(os.environ['HOME'] + '/f', 'w').close())
attempt('symlink', lambda: os.symlink('/etc', os.environ['HOME'] + '/l'))
attempt('device', lambda: os.mknod(os.environ['HOME'] + '/d'))
attempt('null', lambda: os.write(os.open('/dev/null', os.O_WRONLY), b'x') and None)
""")

    assert outcomes(found) == {"listen": "ok", "file": "EACCES", "symlink": "EACCES", "device": "EACCES", "null": "ok"}


def test_there_is_no_way_out_over_a_socket() -> None:
    found = probe("""
for name in ('AF_INET', 'AF_INET6', 'AF_NETLINK', 'AF_PACKET', 'AF_VSOCK', 'AF_ALG'):
    attempt(name, lambda: socket.socket(getattr(socket, name), socket.SOCK_STREAM))
attempt('UDP', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt('unix datagram', lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
attempt('unix', lambda: socket.socket(socket.AF_UNIX).connect(outside + '/s'))
attempt('abstract', lambda: socket.socket(socket.AF_UNIX).connect(chr(0) + abstract))
attempt('name', lambda: socket.getaddrinfo('localhost', 80) and None)
""")

    families = ("AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_ALG")
    refused = dict.fromkeys(families, "EAFNOSUPPORT")
    others = {"UDP": "EAFNOSUPPORT", "unix datagram": "EAFNOSUPPORT", "unix": "EPERM", "abstract": "EPERM"}
    assert {name: outcome for name, outcome in outcomes(found).items() if name != "name"} == {**refused, **others}
    assert found["name"][0] != "ok"


def test_it_does_nothing_to_other_processes_and_makes_none() -> None:
    found = probe("""
attempt('signal', lambda: os.kill(parent, 0))
attempt('group', lambda: os.kill(0, 0))
attempt('own', lambda: os.kill(os.getpid(), 0))
attempt('fork', lambda: os.fork() or os._exit(0))
system('ptrace', 101, 117, 16, parent, 0, 0)
system('read memory', 310, 270, parent, 0, 0, 0, 0, 0)
system('limits', 302, 261, parent, 4, 0, 0)
system('pidfd', 434, 434, parent, 0)
system('clone3', 435, 435, 0, 0)
attempt('thread', lambda: __import__('threading').Thread(target=int).start())
""")

    allowed = {"own": "ok", "thread": "ok"}
    refused = dict.fromkeys(("signal", "group", "fork", "ptrace", "read memory", "limits", "pidfd"), "EPERM")
    assert outcomes(found) == {**refused, **allowed, "clone3": "ENOSYS"}


def test_the_kernel_is_out_of_reach() -> None:
    found = probe("""
system('bpf', 321, 280, 0, 0, 0)
system('mount', 165, 40, 0, 0, 0, 0, 0)
system('unshare', 272, 97, 0x10000000)
system('keyctl', 250, 219, 0, -3, 0)
system('io_uring', 425, 425, 1, 0)
system('userfaultfd', 323, 282, 1)
system('perf', 298, 241, 0, 0, -1, -1, 0)
system('memfd', 319, 279, b'x', 0)
system('setuid', 105, 146, 0)
system('outlive the parent', 157, 167, 1, 0, 0, 0, 0)
""")

    assert set(outcomes(found).values()) == {"EPERM"}


def test_memory_descriptors_and_files_have_limits() -> None:
    found = probe("""
attempt('memory', lambda: bytearray(700_000_000) and None)
attempt('shared memory', lambda: mmap.mmap(-1, 4096) and None)
attempt('a little memory', lambda: bytearray(100_000_000) and None)
attempt('limits', lambda: [resource.getrlimit(k)[1] for k in (resource.RLIMIT_CORE, resource.RLIMIT_NOFILE,
    resource.RLIMIT_FSIZE, resource.RLIMIT_DATA)])
attempt('raise', lambda: resource.setrlimit(resource.RLIMIT_DATA, (1 << 40, 1 << 40)))
""")

    assert found.pop("limits") == ["ok", [0, sandbox.OPEN_FILES, sandbox.FILE_BYTES, sandbox.DATA_BYTES]]
    assert outcomes(found) == {
        "memory": "MemoryError",
        "shared memory": "EPERM",
        "a little memory": "ok",
        "raise": "ValueError",
    }


def test_it_has_no_privileges_and_no_secrets() -> None:
    found = probe("""
status = dict(line.split(':', 1) for line in open('/proc/self/status'))
attempt('status', lambda: {k: status[k].split()[0] for k in ('CapEff', 'CapPrm', 'NoNewPrivs', 'Seccomp')})
attempt('environment', lambda: sorted(os.environ))
attempt('descriptors', lambda: sorted(int(name) for name in os.listdir('/proc/self/fd') if int(name) > 2))
""")

    nothing = "0000000000000000"
    assert found["status"][1] == {"CapEff": nothing, "CapPrm": nothing, "NoNewPrivs": "1", "Seccomp": "2"}
    assert found["descriptors"][1] == [3]  # the one that reads the list
    assert set(found["environment"][1]) <= {"HOME", "LANG", "LC_CTYPE", "LIGHTPANDA_DISABLE_TELEMETRY", "TMPDIR"}


BARE = """
import sys
sys.path.append(sys.argv[1])
from actors.fetchers import sandbox, system_calls
sandbox.landlock_version, system_calls.MACHINES = lambda: 0, {}
sandbox.main(sys.argv[2:])
"""


@pytest.mark.parametrize("lenient", [False, True])
def test_a_kernel_without_walls_runs_nothing_unless_that_is_allowed(*, lenient: bool) -> None:
    with folder() as home:
        output, why = launch(home, ("-c", "print('ran')"), lenient=lenient, launcher=("-c", BARE, sandbox.ROOT))

        assert (output, why) == ((b"ran\n", "") if lenient else (b"", "landlock: the kernel has no Landlock"))


OLDER = """
import sys
sys.path.append(sys.argv[1])
from actors.fetchers import sandbox, system_calls
sandbox.landlock_version = lambda: {version}
sandbox.main(sys.argv[2:])
"""
TRY = """
import os
os.listdir(os.environ["HOME"])
try:
    os.listdir("/etc")
except PermissionError:
    print("in")
"""


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6])
def test_older_kernels_keep_files_apart_too(version: int) -> None:
    with folder() as home:
        launcher = ("-c", OLDER.format(version=version), sandbox.ROOT)
        output, why = launch(home, ("-c", TRY), launcher=launcher)

        assert (output, why) == (b"in\n", "")


def test_the_program_dies_with_its_parent() -> None:
    with folder() as home:
        output, why = launch(home, ("-c", "print('ran')"), lenient=True, parent=1)

        assert (output, why) == (b"", "parent: the parent has died")


def test_root_becomes_nobody() -> None:
    found = probe("attempt('user', lambda: [os.getuid(), os.geteuid(), os.getgid(), os.getgroups()])")

    own: list[Any] = [os.getuid(), os.geteuid(), os.getgid(), os.getgroups()]
    nobody: list[Any] = [sandbox.NOBODY, sandbox.NOBODY, sandbox.NOBODY, []]
    assert found["user"] == ["ok", nobody if os.getuid() == 0 else own]
