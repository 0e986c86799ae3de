"""How a system is started by hand, found by the command line, and made for one call."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex

import anyio
import msgspec
import structlog

from actors.actor import purposes_of
from actors.registry import ACTORS, GATEWAY, kinds, warmed
from actors.router.credentials import CredentialFile, CredentialsError
from actors.runtime.natskeys import ONLOOKER, STDIO, key_of
from actors.runtime.replica import VERSION, replica_main
from actors.runtime.rundir import Ready, claimed, read_ready, ready_path, write_ready
from actors.runtime.spawners import Spawner, processes, tasks, zygote_process
from actors.runtime.system import Plan, System, listen, running
from actors.runtime.withheld import Withheld, withhold
from actors.settings import (
    Loaded,
    Settings,
    key_file,
    resolve_api_key,
    resolve_vault_key,
    vault_key_file,
    with_secrets,
)
from bus import Bus, TransportError, telemetry
from bus.nats import keys
from bus.nats.transport import connect as connect_nats
from bus.seal import Seal, new_key
from protocol.faults import Code, FaultError, fault
from protocol.subjects import KEYS

log = structlog.stdlib.get_logger()

SERVING = "system_serving"
STOPPING = "system_stopping"
STOPPED = "system_stopped"


# -- weft up -------------------------------------------------------------------------------------------------------


def up(
    loaded: Loaded,
    *,
    single_process: bool,
    actors: Mapping[str, int],
    ready_file: Path | None = None,
    withheld: Withheld | None = None,
) -> int:
    """Run a system until it is asked to stop; returns the exit status.

    `actors` maps names to numbers of replicas; `withheld` goes to those who name its variables.
    Blocks, and must be called before any thread or loop exists.

    Raises:
        FaultError: the system could not be started, or cannot go on; CONFIG_INVALID names the setting to change.
    """
    settings = loaded.settings
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy would start threads that nobody uses, before the fork
    telemetry.configure(settings.log_level, settings.log_format)
    with claimed(settings.data_dir), ExitStack() as stack:
        telemetry.load_tracing()
        kinds_by_name = warmed(actors)
        # The zygote comes first: keys and the listening socket are none of its business.
        kept = withheld or Withheld()
        zygote = None if single_process else zygote_process(replica_main, kept, fork=_forks(settings))
        control = stack.enter_context(zygote) if zygote else None
        variables = kept.read()
        loaded = with_secrets(loaded, variables)
        for kind in kinds_by_name.values():
            kind.check(loaded.settings)
        settings = msgspec.structs.replace(
            loaded.settings, api_key=resolve_api_key(loaded.settings), vault_key=resolve_vault_key(loaded.settings)
        )
        listener = None
        if GATEWAY in actors:
            listener = stack.enter_context(listen("port", settings.host, settings.port))
            settings = msgspec.structs.replace(settings, port=listener.getsockname()[1])
        plan = Plan(settings, dict(actors), kinds_by_name, listener, withheld=variables, origins=loaded.origins)
        return anyio.run(partial(_up, plan, control, ready_file))


def _forks(settings: Settings) -> bool:
    return settings.start_method == "fork" or (settings.start_method == "auto" and sys.platform == "linux")


async def _up(plan: Plan, control: socket.socket | None, ready_file: Path | None) -> int:
    folder = plan.settings.data_dir / "nats"
    spawning: AbstractAsyncContextManager[Spawner] = processes(control) if control else tasks(plan.kinds)
    async with spawning as spawner, anyio.create_task_group() as group:
        serving = anyio.CancelScope()
        group.start_soon(_stop_on_signal, serving, spawner)
        async with running(plan, spawner, folder) as system:
            with serving:
                await system.until_ready()
                _publish_ready(system, ready_file)
                await anyio.sleep_forever()
        group.cancel_scope.cancel()
    log.info(STOPPED)
    return 0


async def _stop_on_signal(serving: anyio.CancelScope, spawner: Spawner) -> None:
    """End the system in good order at the first signal, and at once at the second."""
    hangup = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)  # nohup
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, *hangup) as signals:
        async for number in signals:
            log.info(STOPPING, signal=number.name)
            if serving.cancel_called:
                spawner.kill_all()
                os._exit(128 + number)
            serving.cancel()


def _publish_ready(system: System, ready_file: Path | None) -> None:
    """Write for programs and people where the system is to be found; the key is shown on a terminal alone."""
    ready, plan = system.ready(), system.plan
    for path in (ready_path(plan.settings.data_dir), *([ready_file] if ready_file else [])):
        write_ready(path, ready)
    log.info(SERVING, rest=ready.rest, actors=sum(plan.actors.values()))
    origin = plan.origins.get("api_key", "default")
    shown = plan.settings.api_key if sys.stdout.isatty() else ""
    key = _KeyWords(shown, ready.key_file if _is_kept(plan.settings) else "", origin)
    try:
        print(_banner(ready, sum(plan.actors.values()), VERSION, key), flush=True)  # noqa: T201 - for the person who started it
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever closed it has read enough


def _is_kept(settings: Settings) -> bool:
    """Return whether the API key is that of the data folder, for which an empty setting stands, too."""
    with suppress(OSError, UnicodeDecodeError):
        return key_file(settings).read_text("ascii").strip() == settings.api_key
    return False


class _KeyWords(msgspec.Struct, frozen=True):
    """What is said of the API key: itself, or "" where a log may keep it; its file, or "" where `origin` has set it."""

    shown: str
    file: str
    origin: str

    @property
    def line(self) -> str:
        """Where the key is to be had."""
        place = f"kept in {self.file}" if self.file else f"set by {self.origin}"
        return f"{self.shown}   ({place})" if self.shown else place


def _banner(ready: Ready, replicas: int, version: str, key: _KeyWords) -> str:
    """Write what a person reads when a system serves; what needs a key that is not shown takes it from a variable."""
    lines = [f"Weft {version} serves: {replicas} actor replicas, NATS at {ready.nats}"]
    bearer = shlex.quote(f"Authorization: Bearer {key.shown}") if key.shown else '"Authorization: Bearer $WEFT_API_KEY"'
    if ready.rest:
        lines += [
            f"  REST     {ready.rest}/api/browse   ({ready.rest}/openapi.json)",
            f"  MCP      {ready.mcp}",
            f"  browser  {ready.rest}/   (what runs here)",
            f"  API key  {key.line}",
            f"  shell    export WEFT_API_KEY={f'$(cat {shlex.quote(key.file)})' if key.file else '...'}",
            f"Paste into your MCP client, or into .mcp.json{'' if key.shown else ' (the shell line comes first)'}:",
            f"  claude mcp add --transport http weft {ready.mcp} --header {bearer}",
            f"  {_snippet(ready.mcp, key.shown or '${WEFT_API_KEY}')}",
        ]
    return "\n".join([*lines, "Ctrl-C stops it."])


def _snippet(url: str, key: str) -> str:
    server = {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {key}"}}
    return msgspec.json.encode({"mcpServers": {"weft": server}}).decode()


# -- systems found, and systems for one call -----------------------------------------------------------------------


@asynccontextmanager
async def connect(settings: Settings, *, stdio: bool = False) -> AsyncGenerator[Bus]:
    """Open the bus of the system that runs in this data folder (or at `nats_url`), as an onlooker or for stdio.

    Raises:
        FaultError: INTERNAL_UNAVAILABLE, when none runs.
    """
    ready = read_ready(settings.data_dir)
    url = settings.nats_url or (ready.nats if ready else "")
    if not url:
        message = f"No Weft runs in {settings.data_dir}; start one with: weft up"
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE, message))
    name, purpose = (STDIO, keys.STDIO) if stdio else (ONLOOKER, keys.ONLOOKER)
    if settings.nats_keys:  # of a NATS that was joined, perhaps by --nats: then the address stands in the folder alone
        settings = msgspec.structs.replace(settings, nats_url=url)
    key = key_of(settings, name) if settings.nats_url else keys.derived(resolve_api_key(settings), purpose)
    try:
        async with connect_nats(url, name, key, ca_file=settings.nats_ca_file) as transport:
            bus = Bus(transport, name, token_hex(6), VERSION)
            bus.seal = _seal(settings) if stdio else None
            async with bus.running():
                yield bus
    except TransportError as error:
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE, str(error))) from None


@asynccontextmanager
async def private(settings: Settings) -> AsyncGenerator[System]:
    """Run a system in this process alone, without a gateway, for as long as the block lasts."""
    names = [name for name in ACTORS if name != GATEWAY]
    with tempfile.TemporaryDirectory(prefix="weft-") as folder:
        given = settings
        settings = msgspec.structs.replace(
            given, data_dir=Path(folder), nats_url="", nats_port=0, api_key="", vault_key=new_key()
        )
        loaded = kinds(names)
        _carry_credentials(given, settings)
        withheld = withhold([name for kind in loaded.values() for name in kind.variables], anew=False).read()
        plan = Plan(settings, dict.fromkeys(names, 1), loaded, withheld=withheld)
        async with tasks(plan.kinds) as spawner, running(plan, spawner, Path(folder)) as system:
            await system.until_ready()
            system.bus.seal = _of_gateway(settings.vault_key)  # for MCP over stdio, which speaks by this bus
            yield system


def _carry_credentials(source: Settings, target: Settings) -> None:
    """Let a system for one call have the credentials of providers that are stored here, sealed with its own key."""
    if not (source.vault_key or vault_key_file(source).exists()):
        return
    stored = CredentialFile.of(source.data_dir, Seal.of(resolve_vault_key(source)))
    with suppress(CredentialsError):  # `weft providers list` says so
        CredentialFile.of(target.data_dir, Seal.of(target.vault_key)).write(stored.read())


def _seal(settings: Settings) -> Seal | None:
    """Return what a gateway seals with; where the system keeps no key here, one of our own would open nothing there."""
    there_is_one = settings.vault_key or vault_key_file(settings).exists()
    return _of_gateway(resolve_vault_key(settings)) if there_is_one else None


def _of_gateway(root: str) -> Seal:
    """Return the seals of a gateway, without that of the keys, which an endpoint over pipes knows nothing of."""
    purposes = (one for one in purposes_of(kinds((GATEWAY,))[GATEWAY]) if one != KEYS.name)
    return Seal(Seal.of(root).derived(purposes))
