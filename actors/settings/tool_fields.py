"""The settings of tools: searching, and other programs that are told to do something."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from actors.settings.model_fields import ModelSettings


class ToolSettings(ModelSettings, frozen=True, kw_only=True):
    """What an operator may choose of tools."""

    search_file: Annotated[
        str,
        Meta(
            description="TOML file of search engines, in the form of config/search.toml, which it adds to and wins "
            "over; a change counts at once. Empty: search.toml in the data folder, if there is one."
        ),
    ] = ""
    integrations_file: Annotated[
        str,
        Meta(
            description="TOML file of programs that tools may tell to do something, in the form of "
            "config/integrations.toml; a change counts at once. Empty: integrations.toml in the data folder, if there "
            "is one."
        ),
    ] = ""
    record_conversations: Annotated[
        bool,
        Meta(
            description="Whether the packets of conversations, and what sites answered for them, are kept for a day, "
            "sealed, up to 128 MB, so that one can be replayed (`weft export`, `weft replay`). What is read with a "
            "login is left out."
        ),
    ] = False
    keep_pages_days: Annotated[
        int,
        Meta(
            ge=0,
            le=7,
            description="Days for which the pages that a caller has read without a login are kept as they were, "
            "sealed, for that caller alone: 2,000 of each, 512 MB of all; and of those that a browser has shown, up to "
            "256 MB of pictures. 0: none are.",
        ),
    ] = 3
    index_pages: Annotated[
        bool,
        Meta(
            description="Whether pages that are read without a login are kept for seven days, sealed, so that whoever "
            "read one finds it again by `search`."
        ),
    ] = True
