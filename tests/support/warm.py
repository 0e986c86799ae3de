"""A process per worker that has imported Weft once, and forks a `weft` for each command line that a test runs.

To import everything takes most of what a start costs. The command line that tests start is `asking.py`, whose input and
output, environment and folder the fork gets, and which passes on signals and ends as the fork does; it has another pid.
With `--full`, and outside of pytest, every `weft` is a new interpreter.
"""

from __future__ import annotations

import contextlib
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
from typing import NoReturn

from tests.support.asking import FDS, HEAD_BYTES

ASKING = Path(__file__).parent / "asking.py"

CommandLine = tuple[list[str], dict[str, str], str]
"""Arguments, environment, working directory."""


@dataclass
class _Owner:
    """The process that a worker has started, if any."""

    wanted: bool = False
    process: subprocess.Popen[bytes] | None = None
    folder: tempfile.TemporaryDirectory[str] | None = None


_owner = _Owner()


def want(*, wanted: bool) -> None:
    """Choose whether the command lines of this process are forks of one that has imported everything."""
    _owner.wanted = wanted


def command(*arguments: str) -> list[str] | None:
    """Return the command line of a `weft` that need not import anything; None where each is to be a new interpreter."""
    if not _owner.wanted or sys.platform != "linux":
        return None
    if _owner.folder is None:
        _owner.folder = tempfile.TemporaryDirectory(prefix="warm-")
        place = _place(_owner.folder.name)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(place)
            listener.listen(64)
            fd = listener.fileno()
            argv = [sys.executable, "-m", "tests.support.warm", str(fd)]
            environ = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # a process with threads is not to be forked
            _owner.process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, pass_fds=(fd,), env=environ, start_new_session=True
            )
    return [sys.executable, "-I", "-S", str(ASKING), _place(_owner.folder.name), *arguments]


def end() -> None:
    """End the process of this worker, and what it has forked."""
    if _owner.process is not None and _owner.folder is not None:
        _owner.process.communicate()
        _owner.folder.cleanup()
        _owner.process = _owner.folder = None


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
    """Import everything and fork it until the worker is gone."""
    for name in ("actors.cli.main", "actors.registry", "rich.console", "rich.progress", "rich.table"):
        importlib.import_module(name)
    importlib.import_module("actors.registry").kinds()
    gc.collect()
    gc.freeze()
    if line := Forks(socket.socket(fileno=fd), sys.stdin.fileno()).serve():
        _be_weft(line)
    os._exit(0)  # there is nothing to tidy up


if __name__ == "__main__":
    _main(int(sys.argv[1]))
