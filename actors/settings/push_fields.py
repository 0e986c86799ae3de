"""The settings of push: what clients are connected to, and how many of them there may be."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from actors.settings.tool_fields import ToolSettings


class PushSettings(ToolSettings, frozen=True, kw_only=True):
    """What an operator may choose of push."""

    push: Annotated[
        bool, Meta(description="Whether clients are told of what is new by the Pusher protocol; else they ask.")
    ] = True
    push_app_id: Annotated[
        str,
        Meta(
            pattern=r"^[0-9]{0,20}$",
            description="Id of the app of push, a number; empty: derived from vault_key, as key and secret are.",
        ),
    ] = ""
    push_key: Annotated[
        str,
        Meta(pattern=r"^[A-Za-z0-9_-]{0,64}$", description="Key of the app of push, which clients name and see."),
    ] = ""
    push_secret: Annotated[
        str,
        Meta(
            pattern=r"^[\x21-\x7e]{0,256}$",
            description="Secret of the app of push: who has it may trigger events by its REST, and hear every channel.",
        ),
    ] = ""
    push_url: Annotated[
        str,
        Meta(
            pattern=r"^(?:https?://[^\s/?#@]+)?$",
            description="REST of another server of the Pusher protocol (Pusher, Sockudo, Soketi) that clients are "
            "connected to, as https://api-eu.pusher.com; empty: the gateway is the server itself.",
        ),
    ] = ""
    push_client_url: Annotated[
        str,
        Meta(
            pattern=r"^(?:wss?://[^\s/?#@]+(?:/[^\s?#@]*)?)?$",
            description="Where clients connect to that server, as wss://ws-eu.pusher.com; empty: at push_url.",
        ),
    ] = ""
    push_sockets: Annotated[
        int,
        Meta(ge=1, le=100_000, description="Sockets of push that one replica of the gateway has open at once at most."),
    ] = 1_500
    push_activity_timeout_s: Annotated[
        int,
        Meta(
            ge=1,
            le=3_600,
            description="Seconds without a message before a socket of push is asked whether it is still there.",
        ),
    ] = 120
