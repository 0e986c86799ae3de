"""A process that has imported and warmed Weft once, and forks a `weft` for each command line that a test runs.

To import and to warm everything takes most of what a start costs; the workers of a run share one such process. The
command line that tests start is `asking.py`, whose input and output, environment and folder the fork gets, and which
passes on signals and ends as the fork does; it has another pid. With `--full`, and outside of pytest, every `weft` is
a new interpreter.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import marshal
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from tests.support.asking import FDS, HEAD_BYTES

ASKING = Path(__file__).parent / "asking.py"

CommandLine = tuple[list[str], dict[str, str], str]
"""Arguments, environment, working directory."""


PID_FILE = "TESTS_OF_WEFT_PID_FILE"
"""The variable that names the file to which a fork writes its pid, which is not that of its command line."""

_VARIABLE = "TESTS_OF_WEFT_WARM"
"""Where the process listens that whoever started this one shares with it."""


@dataclass
class _Owner:
    """The process that this one has started, if any."""

    wanted: bool = False
    process: subprocess.Popen[bytes] | None = None
    folder: tempfile.TemporaryDirectory[str] | None = None


_owner = _Owner()


def want(*, wanted: bool) -> None:
    """Choose whether the command lines of this process are forks of one that has imported everything."""
    _owner.wanted = wanted and sys.platform == "linux"


def share() -> None:
    """Start it for the processes that this one will start, too."""
    if _owner.wanted and _VARIABLE not in os.environ:
        os.environ[_VARIABLE] = _own_place()


def command(*arguments: str) -> list[str] | None:
    """Return the command line of a `weft` that need not import anything; None where each is to be a new interpreter."""
    if not _owner.wanted:
        return None
    return [sys.executable, "-I", "-S", str(ASKING), os.environ.get(_VARIABLE) or _own_place(), *arguments]


def end() -> None:
    """End the process that this one has started, and what it has forked."""
    if _owner.process is not None and _owner.folder is not None:
        os.environ.pop(_VARIABLE, None)
        _owner.process.communicate()
        _owner.folder.cleanup()
        _owner.process = _owner.folder = None


def _own_place() -> str:
    """Return where the process listens, which is started at first."""
    if _owner.folder is None:
        _owner.folder = tempfile.TemporaryDirectory(prefix="warm-")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(_place(_owner.folder.name))
            listener.listen(64)
            fd = listener.fileno()
            argv = [sys.executable, "-m", "tests.support.warm", str(fd)]
            environ = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # a process with threads is not to be forked
            _owner.process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, pass_fds=(fd,), env=environ, start_new_session=True
            )
    return _place(_owner.folder.name)


def _place(folder: str) -> str:
    return f"{folder}/weft.sock"


@dataclass
class Forks:
    """Forks whoever is asked for at `listener`, until `owner` closes."""

    listener: socket.socket
    owner: int
    waiting: dict[int, socket.socket] = field(default_factory=dict[int, socket.socket])

    def serve(self) -> CommandLine | None:
        """Return what is to be done, in each fork; None in the end."""
        wake, waker = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(waker, False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        while True:
            pids = {one.fileno(): pid for pid, one in self.waiting.items()}
            ready, _, _ = select.select([self.listener.fileno(), self.owner, wake, *pids], [], [])
            if self.owner in ready:
                self._end()
                return None
            for fd in filter(pids.__contains__, ready):
                sent = _received(self.waiting[pids[fd]], 1)
                os.kill(pids[fd], sent[0] if sent else signal.SIGKILL)
                if not sent:
                    self.waiting.pop(pids[fd]).close()
            if wake in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(wake, 1 << 16)
                self._bury()
            if self.listener.fileno() in ready and (line := self._fork()) is not None:
                return line

    def _end(self) -> None:
        for pid in self.waiting:
            os.kill(pid, signal.SIGTERM)

    def _bury(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if asking := self.waiting.pop(ended[0], None):
                    with contextlib.suppress(OSError), asking:
                        asking.sendall(str(os.waitstatus_to_exitcode(ended[1])).encode())

    def _fork(self) -> CommandLine | None:
        asking, _ = self.listener.accept()
        head, fds, _, _ = socket.recv_fds(asking, HEAD_BYTES, FDS)
        body = _received(asking, int(head or 0))
        if not body:  # who asked is gone
            asking.close()
            return None
        if pid := os.fork():
            for fd in fds:
                os.close(fd)
            self.waiting[pid] = asking
            return None
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for one in (self.listener, asking, *self.waiting.values()):
            one.close()
        os.setsid()
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
            os.close(fd)
        line: CommandLine = marshal.loads(body)  # noqa: S302 - from a test of ours
        return line


def _received(one: socket.socket, size: int) -> bytes:
    """Receive so many bytes, or nothing of one that is gone before."""
    body = b""
    with contextlib.suppress(ConnectionError):
        while len(body) < size and (some := one.recv(size - len(body))):
            body += some
    return body if len(body) == size else b""


def _be_weft(line: CommandLine) -> NoReturn:
    """Live as the command line, and end as an interpreter does."""
    from actors.cli.main import main  # noqa: PLC0415 - not by the worker

    arguments, environ, folder = line
    if place := environ.pop(PID_FILE, ""):
        Path(place).write_text(str(os.getpid()))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["weft", *arguments]
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - what was opened before the fork is of another kind
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - as above
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115 - as above
    status = 1
    try:
        main()
    except SystemExit as done:
        status = done.code if isinstance(done.code, int) else 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        os._exit(status)


def _main(fd: int) -> None:
    """Do what each fork would do for itself, and fork until the owner is gone."""
    for name in ("actors.cli.main", "actors.runtime.launch", "rich.console", "rich.progress", "rich.table"):
        importlib.import_module(name)
    registry = importlib.import_module("actors.registry")
    registry.warmed(registry.ACTORS)
    typer: Any = importlib.import_module("typer.main")
    typer.get_command = functools.cache(typer.get_command)
    for name in ("actors.cli.up", "actors.cli.verbs"):
        typer.get_command(importlib.import_module(name).app)
    gc.collect()
    gc.freeze()
    if line := Forks(socket.socket(fileno=fd), sys.stdin.fileno()).serve():
        _be_weft(line)
    os._exit(0)  # there is nothing to tidy up


if __name__ == "__main__":
    _main(int(sys.argv[1]))
