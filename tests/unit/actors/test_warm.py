"""What every replica needs is done before it is forked, once for all, and not again after it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from actors.gateway.rest import endpoints, routing
from actors.policy_file import own_policy, read_policy
from actors.registry import kinds
from actors.routing_file import own_file, read_routing
from actors.settings import Settings
from actors.settings.loading import describe
from actors.toml_file import Watched
from actors.tool_files import own_engines, own_integrations, read_engines, read_integrations


def _forbidden(*_: object, **__: object) -> None:
    pytest.fail("this is done before the fork")


@pytest.mark.parametrize(
    ("actor", "own", "read"),
    [
        ("navigator", own_policy, read_policy),
        ("policy", own_policy, read_policy),
        ("router", own_file, read_routing),
        ("learner", own_file, read_routing),
        ("runner", own_engines, read_engines),
        ("runner", own_integrations, read_integrations),
    ],
)
async def test_no_replica_reads_a_shipped_file_again(
    actor: str,
    own: Callable[[Settings], Path],
    read: Callable[[Path | None], object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds((actor,))[actor].warm()
    monkeypatch.setattr(tomllib, "loads", _forbidden)

    async with Watched(own(Settings(data_dir=tmp_path)), read).open() as file:
        assert file.value == read(None)


def test_no_gateway_makes_a_decoder_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds(("gateway",))["gateway"].warm()
    monkeypatch.setattr(routing, "Decoder", _forbidden)

    routing.router(None, endpoints.ENDPOINTS, {})  # type: ignore[arg-type]  # nothing is asked of it


def test_no_gateway_looks_at_the_types_of_all_settings_again(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = describe()
    monkeypatch.setattr(structs, "fields", _forbidden)

    assert describe() == shown
