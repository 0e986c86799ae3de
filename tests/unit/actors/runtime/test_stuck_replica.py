"""A replica whose event loop no longer turns ends, so that it is started again."""

from __future__ import annotations

import subprocess
import sys

_STUCK = """
import re, anyio
from actors.runtime.replica import end_where_stuck
async def main():
    async with anyio.create_task_group() as group:
        group.start_soon(end_where_stuck, 0.5)
        await anyio.sleep({turns})
        {then}
        group.cancel_scope.cancel()
anyio.run(main)
print("went on")
"""


def _run(turns: float, then: str) -> subprocess.CompletedProcess[str]:
    code = _STUCK.format(turns=turns, then=then)
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        env={"PYTHONPATH": ":".join(sys.path)},
    )


def test_it_ends_within_a_call_that_lets_nothing_else_run() -> None:
    ended = _run(0.1, "re.match('(a+)+$', 'a' * 60 + 'b')")

    assert ended.returncode == 1
    assert "went on" not in ended.stdout
    assert "Timeout" in ended.stderr


def test_it_goes_on_while_the_loop_turns() -> None:
    ended = _run(2.0, "pass")

    assert (ended.returncode, ended.stdout) == (0, "went on\n")
