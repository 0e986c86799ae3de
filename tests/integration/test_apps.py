"""The applications of the test site: built once, served by name, and honest about what a build lacks."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import anyio.to_thread
import httpx2
import pytest

from tests.site import serve_site
from tests.site.apps import BROWSER_PAGES, FRAMEWORK_PAGES, HOSTILE_PAGES, NotBuiltError, build_apps
from tests.site.apps.building import Workshop, build

pytestmark = pytest.mark.slow


@pytest.mark.timeout(900)
async def test_every_page_is_served() -> None:
    with anyio.fail_after(280):
        await anyio.to_thread.run_sync(build_apps)
        async with serve_site() as site, httpx2.AsyncClient(timeout=90) as client:
            paths = (*FRAMEWORK_PAGES.values(), *BROWSER_PAGES.values(), *HOSTILE_PAGES.values())
            answers = {path: (await client.get(site.url(path))).status_code for path in paths}

    assert {path: status for path, status in answers.items() if status != 200} == {}


async def test_nothing_is_served_from_outside_of_a_page() -> None:
    with anyio.fail_after(90):
        await anyio.to_thread.run_sync(build_apps)
        async with serve_site() as site, httpx2.AsyncClient(timeout=90) as client:
            for path in (
                "/apps/",
                "/apps/..%2f..%2fserver.py",
                "/apps/nothing/",
                "/apps/react-list/%2e%2e/lit-list/x.js",
            ):
                assert (await client.get(site.url(path))).status_code == 404


def test_a_second_build_changes_nothing() -> None:
    before = build_apps().stat().st_mtime_ns

    assert build_apps().stat().st_mtime_ns == before


def test_a_machine_without_node_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_apps()
    (tmp_path / "src").mkdir()
    (tmp_path / "package-lock.json").write_text(json.dumps({"lockfileVersion": 3}))
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(NotBuiltError, match=r"Node\.js >= 20 and npm.*npm was not found"):
        build(Workshop(tmp_path, "src", "/apps"))
