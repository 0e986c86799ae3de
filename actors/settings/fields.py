"""The settings of the system, of its edge and of how pages are got, each with its meaning, limits and default."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

Port = Annotated[int, Meta(ge=0, le=65_535)]
Ms = Annotated[int, Meta(ge=0, le=86_400_000)]
Bytes = Annotated[int, Meta(ge=1, le=2**50)]
Word = Annotated[str, Meta(min_length=1)]


def _user_data_dir() -> Path:
    import platformdirs  # noqa: PLC0415 - costs 10 ms, and most callers name a folder

    return platformdirs.user_data_path("weft", appauthor=False)


class SystemSettings(Struct, frozen=True, kw_only=True):
    """What an operator may choose of all but models; a further field is written here, or in model_fields.py."""

    data_dir: Annotated[
        Path,
        Meta(
            description="Folder of everything that is kept: JetStream, databases, the API key. `~` is the home folder.",
            extra={"default": "the platform's user data folder"},
        ),
    ] = msgspec.field(default_factory=_user_data_dir)
    host: Annotated[Word, Meta(description="Address that the gateway listens on.")] = "127.0.0.1"
    port: Annotated[Port, Meta(description="Port that the gateway listens on (REST and MCP); 0 takes a free one.")] = (
        8720
    )
    api_key: Annotated[
        str,
        Meta(
            pattern=r"^[\x21-\x7e]*$",
            description="Key that clients send as `Authorization: Bearer`, without blanks; "
            "empty: a random one, made at first start and kept in the file api-key of the data folder.",
        ),
    ] = ""
    vault_key: Annotated[
        str,
        Meta(
            pattern=r"^(?:[A-Za-z0-9_-]{43}=?)?$",
            description="Key that saved logins are encrypted with, 32 bytes in URL-safe base64, the same on every "
            "host; empty: a random one, made at first start and kept in the file vault-key of the data folder.",
        ),
    ] = ""
    nats_url: Annotated[
        str,
        Meta(
            pattern=r"^(?:(?:nats|tls|wss?)://[^\s,]+(?:,(?:nats|tls|wss?)://[^\s,]+)*)?$",
            description="NATS to join, as nats://host:4222, several servers of a cluster separated by commas; "
            "empty: start a server of our own.",
        ),
    ] = ""
    nats_keys: Annotated[
        str, Meta(description="File of the nkeys of this host's participants on the NATS of `nats_url` (`weft nats`).")
    ] = ""
    nats_ca_file: Annotated[
        str,
        Meta(
            description="PEM file of the certificate authorities to trust for the NATS of `nats_url`, such as one of "
            "your own; empty: those of this machine."
        ),
    ] = ""
    nats_port: Annotated[Port, Meta(description="Port of the NATS server of our own; 0 takes a free one.")] = 0
    allow_private: Annotated[
        tuple[str, ...],
        Meta(description="Networks in CIDR form that may be fetched although they are private, such as 127.0.0.0/8."),
    ] = ()
    allowed_hosts: Annotated[
        tuple[Word, ...],
        Meta(description="Host headers that the gateway accepts besides the address it listens on."),
    ] = ()
    allowed_origins: Annotated[
        tuple[Word, ...],
        Meta(
            description="Origin headers that the gateway accepts besides its own, such as https://console.example or "
            "chrome-extension://<id>."
        ),
    ] = ()
    toolsets: Annotated[
        tuple[Literal["core", "browser", "runs", "collections", "acting", "flows", "patterns", "offers"], ...],
        Meta(
            min_length=1,
            description="MCP tools that are listed and may be called, where the address (`/mcp?toolsets=core`) names "
            "no others.",
        ),
    ] = ("core", "browser", "runs", "offers")
    public_url: Annotated[
        str,
        Meta(
            pattern=r"^(?:https?://[^\s/?#@]+)?$",
            description="Address that clients know this gateway by, such as https://weft.example, where it is not the "
            "one it listens on; its host and origin are accepted.",
        ),
    ] = ""
    trusted_proxies: Annotated[
        tuple[Word, ...],
        Meta(
            description="Addresses and networks in CIDR form of reverse proxies, whose X-Forwarded-For says where a "
            "request comes from."
        ),
    ] = ()
    oauth_issuer: Annotated[
        str,
        Meta(
            pattern=r"^(?:https?://[^\s?#@]+)?$",
            description="Authorization server (OAuth 2.1) whose access tokens are let in besides keys; empty: none.",
        ),
    ] = ""
    oauth_audience: Annotated[
        tuple[Word, ...],
        Meta(
            description="Audiences that an access token may be for; empty: public_url, with and without /mcp, as "
            "RFC 8707 has it.",
        ),
    ] = ()
    oauth_jwks_url: Annotated[
        str,
        Meta(
            pattern=r"^(?:https?://[^\s#@]+)?$",
            description="Where the keys of oauth_issuer are (JWKS); empty: where its metadata say, on its own host.",
        ),
    ] = ""
    rate_per_minute: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000_000,
            description="Requests a minute that one replica of the gateway takes of one key; 0: as many as come.",
        ),
    ] = 6_000
    rate_burst: Annotated[
        int, Meta(ge=1, le=1_000_000, description="Requests of one key at once before rate_per_minute counts.")
    ] = 600
    interact_per_minute: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="Rounds of /api/agent/interact a minute that one replica takes of one key; 0: as many as come.",
        ),
    ] = 10
    chat_per_minute: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="Requests to /api/session a minute that one replica takes of one key; 0: as many as come.",
        ),
    ] = 100
    interact_mirrored: Annotated[
        bool,
        Meta(
            description="Whether answers of /api/agent/interact have status, plan and verification beside `data`, too, "
            "for clients that look for them there."
        ),
    ] = False
    rate_anonymous_per_minute: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000_000,
            description="Requests a minute to what needs no key, such as /healthz, from one address; 0: any number.",
        ),
    ] = 600
    rate_failed_per_minute: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000_000,
            description="Wrong keys a minute from one address before no further one is looked at; 0: any number.",
        ),
    ] = 60
    requests_at_once: Annotated[
        int, Meta(ge=0, le=100_000, description="Requests of one key that are in hand at once at most; 0: any number.")
    ] = 100
    streams_at_once: Annotated[
        int, Meta(ge=0, le=100_000, description="Streams of events of one key at once at most; 0: any number.")
    ] = 50
    sockets_at_once: Annotated[
        int, Meta(ge=0, le=100_000, description="WebSockets of one key at once at most; 0: any number.")
    ] = 20
    connections_at_once: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="Connections that are open to one replica of the gateway at once at most; 0: any number.",
        ),
    ] = 2_000
    connections_per_address: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="Connections of those that one address has at once at most, half of them WebSockets; 0: any "
            "number. Those of trusted_proxies may have more.",
        ),
    ] = 200
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="The least level that is logged.")
    ] = "info"
    log_format: Annotated[
        Literal["auto", "json", "pretty"],
        Meta(description="How log lines are written; auto: pretty on a terminal, else JSON."),
    ] = "auto"
    event_log: Annotated[
        bool,
        Meta(description="Whether what happens to runs, collections, models and tools is logged as lines of JSON."),
    ] = True
    event_log_file: Annotated[
        str,
        Meta(
            description="File of that log, which is begun anew at 20 MB, five times; empty: events.jsonl of the data "
            "folder."
        ),
    ] = ""
    event_log_previews: Annotated[
        bool, Meta(description="Whether that log has the beginnings of texts, without credentials.")
    ] = False
    start_method: Annotated[
        Literal["auto", "fork", "spawn"],
        Meta(description="How actor processes are started; auto: fork on Linux, spawn elsewhere."),
    ] = "auto"
    drain_ms: Annotated[Ms, Meta(description="Milliseconds that work in hand gets to finish at stop.")] = 10_000
    restart_grace_ms: Annotated[
        Ms, Meta(description="Milliseconds that a request waits for an actor that is away, as while it is restarted.")
    ] = 2_000
    restart_limit: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            description="Deaths of one actor that restart_window_ms may see; at one more it is given up.",
        ),
    ] = 5
    restart_window_ms: Annotated[Ms, Meta(description="Milliseconds over which the deaths of an actor count.")] = 60_000
    restart_backoff_ms: Annotated[
        Ms, Meta(description="Milliseconds before the first restart of an actor; doubled at each further one.")
    ] = 50
    restart_backoff_max_ms: Annotated[Ms, Meta(description="Milliseconds before a restart at most.")] = 5_000
    fetch_max_bytes: Annotated[Bytes, Meta(description="Bytes of one page, after decompression, at most.")] = 20_000_000
    fetch_max_redirects: Annotated[
        int, Meta(ge=0, le=50, description="Redirects that are followed for one page at most.")
    ] = 10
    fetch_connect_timeout_ms: Annotated[
        int, Meta(ge=1, le=300_000, description="Milliseconds that connecting to a site may take.")
    ] = 5_000
    fetch_user_agent: Annotated[
        str,
        Meta(pattern=r"^[\x20-\x7e]+$", description="User-Agent header that is sent to sites, in printable ASCII."),
    ] = "Weft/0.1"
    fetch_cache_bytes: Annotated[
        int, Meta(ge=0, le=2**50, description="Bytes of pages that a fetcher keeps to answer again; 0: none.")
    ] = 32_000_000
    fetch_shared_cache_bytes: Annotated[
        int,
        Meta(
            ge=0,
            le=2**50,
            description="Bytes of pages, encrypted, that fetchers keep on the bus for each other; 0: none.",
        ),
    ] = 400_000_000
    fetch_host_rate: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="Pages a minute that all replicas together get of one host; 0: as many as they like. "
            "Addresses of allow_private are not limited.",
        ),
    ] = 300
    fetch_host_burst: Annotated[
        int, Meta(ge=1, le=10_000, description="Pages of one host that may come at once before fetch_host_rate counts.")
    ] = 20
    fetch_host_at_once: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            description="Requests that all replicas together have open to one host at once at most; 0: as many as "
            "they like.",
        ),
    ] = 16
    fetch_robots: Annotated[
        Literal["asked", "always", "never"],
        Meta(
            description="When robots.txt is obeyed; asked: where the request wants it, as those of a batch do by "
            "themselves.",
        ),
    ] = "asked"
    fetch_robots_ttl_ms: Annotated[Ms, Meta(description="Milliseconds that a robots.txt is believed.")] = 86_400_000
    fetch_ca_file: Annotated[
        str,
        Meta(description="PEM file of certificate authorities to trust for sites and oauth_issuer; empty: the usual."),
    ] = ""
    markdown_offers: Annotated[
        bool,
        Meta(
            description="Take Markdown from sites that offer it: asked for by Accept, and where a page is read poorly, "
            "linked by it or listed in llms.txt."
        ),
    ] = True
    browser_executable: Annotated[
        str,
        Meta(description="Program of the Chromium to use; empty: the one that is found (`weft doctor` says which)."),
    ] = ""
    browser_sandbox: Annotated[
        Literal["auto", "on", "off"],
        Meta(
            description="What holds the browser: Landlock, seccomp, another user where Weft is root, Chromium's own "
            "sandbox. auto: as much as this machine has, if that is enough; on: all or no browser; off: nothing."
        ),
    ] = "auto"
    browser_block: Annotated[
        Literal["unseen", "always", "never"],
        Meta(
            description="When the browser leaves out images, fonts, media and trackers; unseen: where no picture "
            "is taken of the page."
        ),
    ] = "unseen"
    browser_pages: Annotated[
        int, Meta(ge=1, le=50, description="Pages that one replica of the browser tier works on at once at most.")
    ] = 4
    browser_max_bytes: Annotated[
        Bytes, Meta(description="Bytes of memory beyond which a browser is replaced by a fresh one.")
    ] = 1_500_000_000
    browser_page_max_bytes: Annotated[
        Bytes, Meta(description="Bytes of memory of one page, beyond which it is ended with PAGE_CRASHED.")
    ] = 700_000_000
    browser_all_max_bytes: Annotated[
        Bytes, Meta(description="Bytes of memory of one browser with all its pages, beyond which its largest is ended.")
    ] = 3_000_000_000
    browser_session_idle_ms: Annotated[
        int, Meta(ge=1_000, le=86_400_000, description="Milliseconds that a browser session lives without a call.")
    ] = 1_800_000
    browser_javascript: Annotated[
        bool,
        Meta(
            description="Whether execute_javascript runs scripts in the pages of browser sessions; for callers on this "
            "machine alone."
        ),
    ] = False
    light_processes: Annotated[
        int,
        Meta(
            ge=1,
            le=64,
            description="Processes of the light engine that one replica keeps at once, each with two pages at most.",
        ),
    ] = 2
    light_without_walls: Annotated[
        bool,
        Meta(
            description="Run pages in the light engine although this kernel lacks a wall of its sandbox; "
            "the walls that there are still stand."
        ),
    ] = False
    light_settle_ms: Annotated[
        int, Meta(ge=100, le=60_000, description="Milliseconds that the scripts of a page get in the light engine.")
    ] = 5_000
    runs_at_once: Annotated[
        int, Meta(ge=1, le=1_000, description="Runs of templates that all replicas together work on at once at most.")
    ] = 5
    captures_at_once: Annotated[
        int,
        Meta(ge=1, le=64, description="Pages that one runner reads into collections at once at most."),
    ] = 8
    collections_key_bytes: Annotated[
        int,
        Meta(
            ge=0,
            le=2**50,
            description="Bytes of collections and texts that one key, the owner's apart, may keep of the 4 GiB at most "
            "that there are for all; 0: any number.",
        ),
    ] = 2**30
    run_timeout_max_ms: Annotated[
        int, Meta(ge=1, le=86_400_000, description="Milliseconds that a run of a template may take at most.")
    ] = 900_000
    artifact_ttl_ms: Annotated[
        int,
        Meta(ge=1, le=604_800_000, description="Milliseconds that the files of a run are kept after its end."),
    ] = 86_400_000
    artifact_inline_bytes: Annotated[
        int,
        Meta(
            ge=1_024,
            le=500_000,
            description="Bytes of a file that one answer has at most; a longer result is told in short beside "
            "its file.",
        ),
    ] = 262_144
    tier_learning: Annotated[bool, Meta(description="Learn from visits which tier a host needs, and begin there.")] = (
        True
    )
    probe_absent_pages: Annotated[
        bool,
        Meta(
            description="Ask a host whose page may be an error page for one address that cannot exist, at most once a "
            "day and as robots.txt and its pace allow, and compare; never with a login."
        ),
    ] = True
    policy_file: Annotated[
        str,
        Meta(
            description="TOML file of what calls of tools may do, in the form of config/policy.toml, which it adds to; "
            "a change counts at once. Empty: policy.toml in the data folder, if there is one."
        ),
    ] = ""
    hosts_file: Annotated[
        str,
        Meta(
            description="TOML file of hosts whose kind is known, in the form of config/hosts.toml, which it adds to; "
            "empty: none."
        ),
    ] = ""
    patterns_file: Annotated[
        str,
        Meta(
            description="TOML file of APIs of sites, in the form of config/patterns.toml, which it adds to; a change "
            "counts at once. Empty: patterns.toml in the data folder, if there is one."
        ),
    ] = ""
    model_hosts: Annotated[
        tuple[Word, ...],
        Meta(
            description="Servers of models that may be private or speak plain HTTP, as HOST:PORT; any other provider "
            "is asked at a public address over HTTPS."
        ),
    ] = ("127.0.0.1:11434", "localhost:11434", "127.0.0.1:1234", "localhost:1234")
    hedge_percent: Annotated[
        int,
        Meta(
            ge=0,
            le=100,
            description="Share of the cost of a visit, in percent, that may be spent in vain on starting the next tier "
            "early where the one at work mostly fails; 0: never.",
        ),
    ] = 10
    jetstream_max_bytes: Annotated[
        int,
        Meta(
            ge=160_000_000,
            le=2**50,
            description="Bytes on disk of our own JetStream. Three quarters are shared among journals and files, which "
            "follow it at each start; where more is kept already, that stays.",
        ),
    ] = 10 * 2**30
    jetstream_sync_ms: Annotated[
        int,
        Meta(
            ge=100,
            le=600_000,
            description="Milliseconds after which our own JetStream syncs each stream to the disk, also where there is "
            "no work. As much is lost when the power fails, nothing when a process is killed.",
        ),
    ] = 1_000
