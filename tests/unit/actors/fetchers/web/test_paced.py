"""Whose networks are the operator's own, and so not paced."""

from __future__ import annotations

import pytest

from actors.fetchers.web.guard import networks
from actors.fetchers.web.paced import owned

OWN = networks(("127.0.0.0/8", "10.1.0.0/16", "fd00::/8", "93.184.0.0/16"))


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1", True),
        ("10.1.2.3", True),
        ("10.2.2.3", False),
        ("fd00::1", True),
        ("[fd00::1]", True),
        ("::1", False),
        ("93.184.216.34", False),  # on the public internet, whatever is allowed
        ("localhost", False),
        ("example.com", False),
        ("", False),
    ],
)
def test_an_address_of_an_allowed_private_network_is_owned(host: str, own: bool) -> None:  # noqa: FBT001 - a row
    assert owned(host, OWN) == own
