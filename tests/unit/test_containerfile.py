"""What the container asks of itself, to tell whether it is healthy."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from actors.runtime.rundir import Ready, ready_path, write_ready

ROOT = Path(__file__).parents[2]


def test_a_container_is_healthy_when_what_runs_there_serves_with_a_gateway_or_without(tmp_path: Path) -> None:
    check = re.search(r"^HEALTHCHECK.*\n CMD (\[.*\])$", (ROOT / "Containerfile").read_text(), re.MULTILINE)
    assert check is not None
    _, *arguments = json.loads(check[1])

    def healthy() -> bool:
        environ = {**os.environ, "WEFT_DATA_DIR": str(tmp_path)}
        done = subprocess.run([sys.executable, *arguments], env=environ, stderr=subprocess.DEVNULL, check=False)
        return done.returncode == 0

    found = [healthy()]
    for rest in ("", "http://127.0.0.1:1"):
        write_ready(ready_path(tmp_path), Ready(rest=rest, mcp="", nats="", key_file="", pid=os.getpid()))
        found.append(healthy())

    assert found == [False, True, False]
