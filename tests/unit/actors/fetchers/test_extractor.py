"""Pages are read off the loop, and no page outlives its bounds."""

from __future__ import annotations

import errno
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from actors.fetchers import extractor as extractor_module
from actors.fetchers.extraction_worker import LENGTH
from actors.fetchers.extractor import (
    ORDINARY_BYTES,
    ORDINARY_LEVELS,
    ORDINARY_TAGS,
    Extractor,
    WorkerDiedError,
    WorkerProcess,
    WorkError,
    ordinary,
)
from protocol.faults import Code, Fault, FaultError, fault
from tests.support.scale import first

HUGE = b"<p>" * (ORDINARY_TAGS + 1)
DOCUMENT = b"%PDF-1.7"
PAGE_S = 0.5
"""What a page may use of a processor in some of the tests."""


def where(_: bytes) -> tuple[int, int]:
    return os.getpid(), threading.get_ident()


def length(source: bytes, more: int, *, twice: bool = False) -> int:
    return (len(source) + more) * (2 if twice else 1)


def endless(_: bytes) -> None:
    while True:
        pass


def works(_: bytes) -> bool:
    until = time.process_time() + 2 * PAGE_S
    while time.process_time() < until:
        pass
    return True


def asleep(_: bytes) -> None:
    time.sleep(30)


def hungry(_: bytes) -> int:
    return len(bytearray(500_000_000))


def dead(_: bytes) -> None:
    os._exit(3)


def attempts(_: bytes, secret: str, parent: int) -> dict[str, str]:
    """Try what a page would that has taken over its reader."""
    tries: dict[str, Callable[[], object]] = {
        "read": lambda: Path(secret).read_bytes(),
        "list": lambda: sorted(Path(secret).parent.iterdir()),
        "write": lambda: Path(secret).write_bytes(b""),
        "environment": lambda: Path(f"/proc/{parent}/environ").read_bytes(),
        "stream": socket.socket,
        "signal": lambda: os.kill(parent, 0),
        "program": lambda: subprocess.run(["/bin/true"], check=True),
    }
    ended: dict[str, str] = {}
    for name, attempt in tries.items():
        try:
            attempt()
        except OSError as error:
            ended[name] = errno.errorcode[error.errno or 0]
        else:
            ended[name] = "done"
    return {**ended, "variables": " ".join(name for name in os.environ if "WEFT" in name)}


def faulty(_: bytes) -> None:
    raise FaultError(fault(Code.CONTENT_UNSUPPORTED_TYPE, "no text"))


def broken(_: bytes) -> None:
    msg = "words of the page"
    raise ValueError(msg)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"", True),
        (b"<", True),
        (b"a" * ORDINARY_BYTES, True),
        (b"a" * (ORDINARY_BYTES + 1), False),
        (b"<p></p>" * (ORDINARY_TAGS // 2), True),
        (HUGE, False),
        (b"<p>" * ORDINARY_LEVELS, True),
        ("<p>" * (ORDINARY_LEVELS + 1), False),
        (b"</p>" * 5_000 + b"<P>" * (ORDINARY_LEVELS + 1), False),
        (b"<p>" * (ORDINARY_LEVELS + 1) + b"</p>" * (ORDINARY_LEVELS + 1), False),
        ("<p>\ud800</p>", True),
        ("<p></p>", True),
        (DOCUMENT, False),
        (b"\x89PNG\r\n", False),
        (DOCUMENT.decode(), True),
    ],
)
def test_which_pages_are_ordinary(source: bytes | str, *, expected: bool) -> None:
    assert ordinary(source) is expected


async def test_an_ordinary_page_is_read_in_a_thread() -> None:
    async with Extractor() as extractor:
        process, thread = await extractor.run(where, b"<p>warp")

    assert process == os.getpid()
    assert thread != threading.get_ident()


@pytest.mark.slow
async def test_an_extraordinary_page_is_read_in_a_process_that_stays_for_the_next_and_takes_what_a_thread_does() -> (
    None
):
    with anyio.fail_after(90):
        async with Extractor() as extractor:
            first, _ = await extractor.run(where, HUGE)
            second, _ = await extractor.run(where, HUGE)
            found = [await extractor.run(length, source, 1, twice=True) for source in (b"abc", HUGE)]

    assert first == second != os.getpid()
    assert found == [8, 2 * len(HUGE) + 2]


@pytest.mark.full
@pytest.mark.slow
async def test_documents_are_read_in_a_process_of_their_own_in_which_they_have_more_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extractor_module, "_PAGE_SECONDS", PAGE_S)
    with anyio.fail_after(90):
        async with Extractor() as extractor:
            page, _ = await extractor.run(where, HUGE)
            document, _ = await extractor.run(where, DOCUMENT)
            worked = await extractor.run(works, DOCUMENT)
            with pytest.raises(FaultError) as caught:
                await extractor.run(works, HUGE)

    assert len({page, document, os.getpid()}) == 3
    assert (worked, caught.value.fault.code) == (True, Code.CONTENT_TOO_LARGE)


@pytest.mark.parametrize("function", first(1, [endless, asleep, hungry, dead]))
@pytest.mark.slow
async def test_a_page_that_needs_too_much_is_a_fault_and_the_next_one_is_read(function: object) -> None:
    with anyio.fail_after(90):
        async with Extractor() as extractor:
            with pytest.raises(FaultError) as caught:
                await extractor.run(function, HUGE)  # type: ignore[arg-type]  # any of the four
            after = await extractor.run(length, HUGE, 0)

    assert (caught.value.fault.code, after) == (Code.CONTENT_TOO_LARGE, len(HUGE))


async def test_a_fault_stays_the_fault_it_is_and_an_error_of_the_program_is_none_and_does_not_tell_its_words() -> None:
    faults: list[Fault] = []
    with anyio.fail_after(90):
        async with Extractor() as extractor:
            for source in (b"<p>", HUGE):
                with pytest.raises(FaultError) as caught:
                    await extractor.run(faulty, source)
                faults.append(caught.value.fault)
            with pytest.raises(WorkError) as error:
                await extractor.run(broken, HUGE)

    assert faults == [fault(Code.CONTENT_UNSUPPORTED_TYPE, "no text")] * 2
    assert error.value.args[0] == "ValueError"
    assert "words of the page" not in str(error.value)


@pytest.mark.slow
async def test_cancelling_kills_the_process() -> None:
    worker = WorkerProcess()
    with anyio.fail_after(90):
        await worker.prepare(__name__)
        process = await worker.call(partial(os.getpid))
        with anyio.move_on_after(0.05):
            await worker.call(partial(forever))

    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)  # type: ignore[arg-type]  # no fault


def forever() -> None:
    asleep(b"")


@pytest.mark.slow
async def test_the_loop_goes_on_meanwhile() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.lowlevel.checkpoint()
            ticks += 1

    with anyio.fail_after(90):
        async with Extractor() as extractor, anyio.create_task_group() as tasks:
            tasks.start_soon(tick)
            await extractor.run(where, HUGE)
            tasks.cancel_scope.cancel()

    assert ticks > 10


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp are Linux's")
async def test_who_takes_over_the_reader_of_a_document_has_no_key_no_file_and_no_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "vault-key"
    secret.write_bytes(b"hush")
    monkeypatch.setenv("WEFT_VAULT_KEY", "hush")

    async with Extractor() as extractor:
        ended = await extractor.run(attempts, DOCUMENT, str(secret), os.getpid())

    assert ended == {
        **dict.fromkeys(("read", "list", "write", "environment"), "EACCES"),
        "stream": "EAFNOSUPPORT",
        **dict.fromkeys(("signal", "program"), "EPERM"),
        "variables": "",
    }
    assert secret.read_bytes() == b"hush"


class _Forged:
    """What makes a folder where it is unpickled."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (self.folder,)


def _answer_forged(folder: str, length: int) -> int:
    """Write what a page writes that has taken over the process that reads it."""
    answer = pickle.dumps(_Forged(folder))
    os.write(1, LENGTH.pack(length or len(answer)) + answer)
    os._exit(0)


@pytest.mark.parametrize(("length", "error"), [(0, WorkError), (2**60, WorkerDiedError)])
async def test_what_a_process_answers_is_read_as_data_alone(
    tmp_path: Path, length: int, error: type[Exception]
) -> None:
    worker, folder = WorkerProcess(), tmp_path / "made"
    with anyio.fail_after(90):
        await worker.prepare(__name__)
        with pytest.raises(error):
            await worker.call(partial(_answer_forged, str(folder), length))
        await worker.end()

    assert not folder.exists()


async def test_no_module_of_the_current_folder_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pickle.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    worker = WorkerProcess()
    with anyio.fail_after(90):
        await worker.prepare(__name__)
        answered = await worker.call(partial(int, "12"))
        await worker.end()

    assert answered == 12
