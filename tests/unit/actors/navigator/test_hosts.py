"""Known hosts are data: the shipped lists, and over them the operator's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.navigator.hosts import KnownHosts, known_hosts
from protocol.faults import Code, FaultError
from protocol.tiers import HostKind


@pytest.mark.parametrize(
    "host",
    [
        "x.com",
        "twitter.com",
        "www.instagram.com",
        "m.facebook.com",
        "de.linkedin.com",
        "www.tiktok.com",
        "www.youtube.com",
        "www.reddit.com",
        "discord.com",
    ],
)
def test_hosts_that_need_a_browser_are_known(host: str) -> None:
    assert known_hosts().kind(host) is HostKind.BROWSER_ONLY


@pytest.mark.parametrize("host", ["en.wikipedia.org", "docs.python.org", "developer.mozilla.org", "arxiv.org"])
def test_hosts_that_are_static_are_known(host: str) -> None:
    assert known_hosts().kind(host) is HostKind.STATIC


@pytest.mark.parametrize("host", ["example.com", "netflix.com", "org", "com", "", "127.0.0.1", "x.com.example"])
def test_other_hosts_are_not(host: str) -> None:
    assert known_hosts().kind(host) is None


def test_the_longest_name_decides() -> None:
    hosts = KnownHosts(
        {"site.example": HostKind.BROWSER_ONLY, "old.site.example": HostKind.STATIC, "a.site.example": None}
    )

    assert hosts.kind("www.site.example") is HostKind.BROWSER_ONLY
    assert hosts.kind("www.old.site.example") is HostKind.STATIC
    assert hosts.kind("b.a.site.example") is None
    assert hosts.kind("website.example") is None


def test_a_file_of_the_operator_adds_and_wins(tmp_path: Path) -> None:
    path = tmp_path / "hosts.toml"
    path.write_text('browser_only = ["shop.example"]\nstatic = ["x.com"]\nordinary = ["wikipedia.org"]\n')

    hosts = known_hosts(str(path))

    found = [hosts.kind(host) for host in ("shop.example", "x.com", "en.wikipedia.org", "youtube.com")]
    assert found == [HostKind.BROWSER_ONLY, HostKind.STATIC, None, HostKind.BROWSER_ONLY]


@pytest.mark.parametrize(
    "text",
    ["static = [", 'static = "x.com"', 'statik = ["x.com"]', 'static = ["https://x.com/"]', 'static = ["X.com"]'],
)
def test_a_file_that_is_none_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "hosts.toml"
    path.write_text(text)

    with pytest.raises(FaultError) as caught:
        known_hosts(str(path))

    assert (caught.value.fault.code, caught.value.fault.field) == (Code.CONFIG_INVALID, "hosts_file")
    assert str(path) in caught.value.fault.message


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FaultError, match="cannot be read"):
        known_hosts(str(tmp_path / "none.toml"))


@given(st.text())
def test_any_text_may_be_asked_for(host: str) -> None:
    assert known_hosts_once.kind(host) in (None, *HostKind)


known_hosts_once = known_hosts()
