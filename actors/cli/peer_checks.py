"""What the doctor has to say of a NATS that this host joins, and of those who take part there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.cli import terminal
from actors.cli.checks import Check, CheckState
from actors.settings import Settings, resolve_vault_key, vault_key_file
from protocol.faults import FaultError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bus.stats import Replica

_CURE = "Correct WEFT_NATS_URL, WEFT_NATS_KEYS or WEFT_NATS_CA_FILE, or start that NATS."
_VAULT_CURE = "Set WEFT_VAULT_KEY to that of the other hosts; the first may have it in the file vault-key."
_CLOCK_CURE = "Have every host set its clock by NTP: what expires, and what a day may cost, goes by it."


async def joined(settings: Settings) -> tuple[Check, ...]:
    """Take part as who starts the actors of this host, and look at who does already."""
    from actors.runtime.natskeys import read_keys, supervised_by  # noqa: PLC0415 - imports the bus
    from bus import Bus, TransportError  # noqa: PLC0415 - as above
    from bus.clock import now_ms  # noqa: PLC0415 - as above
    from bus.nats.transport import connect, hide_credentials  # noqa: PLC0415 - as above

    try:
        keys = read_keys(settings)
        name = supervised_by(keys)
        async with connect(settings.nats_url, name, keys.get(name), ca_file=settings.nats_ca_file) as transport:
            bus = Bus(transport, name, "doctor")
            async with bus.running():
                live = await bus.replicas()
    except TransportError as error:
        return (Check(name="nats", state=CheckState.MISSING, detail=str(error), cure=_CURE),)
    except FaultError as error:
        return (Check(name="nats", state=CheckState.MISSING, detail=error.fault.message, cure=_CURE),)
    known = f"{len(keys)} keys of {settings.nats_keys}" if keys else "its address"
    hosts = len({one.host for one in live})
    detail = f"joins {hide_credentials(settings.nats_url)} by {known}; {len(live)} replicas on {hosts} hosts answer"
    return (Check(name="nats", state=CheckState.OK, detail=detail), vault(settings, live), clocks(live, now_ms()))


def vault(settings: Settings, live: Sequence[Replica]) -> Check:
    """See whether this host has the vault key of the others."""
    from actors.runtime.peers import with_another_vault  # noqa: PLC0415 - imports the bus
    from bus.seal import Seal  # noqa: PLC0415 - as above

    own = ""
    if settings.vault_key or vault_key_file(settings).exists():
        own = Seal.of(resolve_vault_key(settings)).fingerprint
    other = with_another_vault(live, own)
    if other is None:
        return Check(name="vault_key", state=CheckState.OK, detail="no other host has another one")
    detail = f"{other.actor} on the host {other.host} has {'another one' if own else 'one, and this host none'}"
    return Check(name="vault_key", state=CheckState.MISSING, detail=detail, cure=_VAULT_CURE)


def clocks(live: Sequence[Replica], now_ms: int) -> Check:
    """See whether the clocks of all hosts agree with that of this one."""
    from actors.runtime.peers import clocks_apart  # noqa: PLC0415 - imports the bus

    apart = clocks_apart(live, now_ms)
    if not apart:
        return Check(name="clock", state=CheckState.OK, detail="agrees with those of all hosts that answer")
    words = (
        f"{host} is {terminal.duration_text(abs(ms))} {'ahead' if ms > 0 else 'behind'}" for host, ms in apart.items()
    )
    return Check(name="clock", state=CheckState.WARNING, detail=", ".join(sorted(words)), cure=_CLOCK_CURE)
