"""The listening socket that processes share."""

from __future__ import annotations

import os

from actors.runtime.system import listen


def test_nobody_who_shares_the_listening_socket_blocks_in_accept() -> None:
    """Copies are made whenever a gateway is started; the flag is one for all of them."""
    with listen("port", "127.0.0.1", 0) as listener, listener.dup() as copy:
        blocking = [os.get_blocking(one.fileno()) for one in (listener, copy)]

    assert blocking == [False, False]
