"""The inputs of a run, decoded strictly; what is secret in them stays in the memory of one replica, never quoted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import structlog
from msgspec import Struct

from actors.runner.run_log import RunLog
from actors.runner.template import TaskTemplate
from bus import Bus, TransportError
from bus.clock import now_ms
from bus.seal import UnsealError
from protocol.codec import encode, malformed
from protocol.faults import Code, FaultError, fault
from protocol.runs.events import RunCreated
from protocol.runs.requests import AskSecrets, inputs_of
from protocol.subjects import RUN_SECRETS

log = structlog.stdlib.get_logger()

SECRETS_GONE = "run_secrets_gone"

MAX_KEPT: Final = 1_000
KEEP_MS: Final = 86_400_000
"""How long what is secret is kept for a run that does not end."""

_INVALID = Code.VALIDATION_INVALID_REQUEST
_FIELD = "inputs"

_read = msgspec.json.Decoder(dict[str, Any])


def decoded(data: bytes) -> dict[str, Any]:
    """Decode the JSON of inputs.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, when it is no object.
    """
    try:
        return _read.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # The complaint of the decoder quotes nothing, but its place in the text helps nobody who sent an object.
        raise _invalid(_FIELD, "give a JSON object with the inputs that the template's inputsSchema names") from None


def converted(template: TaskTemplate[Any], values: Mapping[str, Any]) -> Any:
    """Convert inputs to the type that the template has for them.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST with the field named; what is secret is not quoted.
    """
    try:
        return msgspec.convert(dict(values), type=template.inputs)
    except msgspec.ValidationError as error:
        complaint = str(error)
    failure = malformed(_INVALID, complaint, template.inputs).fault
    name = failure.field or ""
    root = name.partition(".")[0].partition("[")[0]
    if root in secret_names(template) and name != root:
        raise _invalid(f"{_FIELD}.{root}", "is not what the template's inputsSchema says")
    if root in secret_names(template):
        raise _invalid(f"{_FIELD}.{root}", "is missing, or not what the template's inputsSchema says")
    reason = failure.message.removeprefix(f"{name}: ")
    raise _invalid(f"{_FIELD}.{name}" if name else _FIELD, f"{reason}; the template's inputsSchema says what it takes")


def kept(template: TaskTemplate[Any], inputs: Struct) -> dict[str, Any]:
    """Return inputs as JSON says them, without what is secret."""
    values: dict[str, Any] = msgspec.to_builtins(inputs, str_keys=True)
    return {name: value for name, value in values.items() if name not in secret_names(template)}


def secret(template: TaskTemplate[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is secret in inputs."""
    return {name: value for name, value in values.items() if name in secret_names(template)}


def secret_names(template: TaskTemplate[Any]) -> frozenset[str]:
    """Return the names of the secret inputs as JSON has them."""
    names = {one.name: one.encode_name for one in msgspec.structs.fields(template.inputs)}
    return frozenset(names[name] for name in template.secret)


@dataclass(eq=False)
class Vault:
    """The secrets of the runs that this replica has accepted, sealed in memory, too."""

    bus: Bus
    _kept: dict[str, tuple[int, bytes]] = field(default_factory=dict[str, tuple[int, bytes]], repr=False)

    def keep(self, run_id: str, secrets: Mapping[str, Any]) -> None:
        """Keep what is secret in the inputs of a run, in place of the oldest where there are too many."""
        if self.bus.seal is None:
            return
        self._kept[run_id] = (now_ms(), self.bus.seal.seal(encode(secrets), inputs_of(run_id)))
        while len(self._kept) > MAX_KEPT:
            del self._kept[next(iter(self._kept))]

    def sealed(self, run_id: str) -> bytes | None:
        """Return the secrets of a run as they travel, if they are here."""
        kept = self._kept.get(run_id)
        return None if kept is None else kept[1]

    def forget(self, run_id: str) -> None:
        """Forget the secrets of a run."""
        self._kept.pop(run_id, None)

    async def find(self, run: RunCreated) -> dict[str, Any]:
        """Return the secrets of a run from the replica that has them; none where they are gone, or never were."""
        if not run.secrets_at or self.bus.seal is None:
            return {}
        sealed = self.sealed(run.run_id)
        if sealed is None and run.secrets_at != self.bus.replica:
            sealed = await self._fetched(run)
        if sealed is None:
            log.warning(SECRETS_GONE, run=run.run_id, replica=run.secrets_at)
            return {}
        try:
            return _read.decode(self.bus.seal.unseal(sealed, inputs_of(run.run_id)))
        except UnsealError:
            log.warning(SECRETS_GONE, run=run.run_id, replica=run.secrets_at)
            return {}

    async def sweep(self, run_log: RunLog) -> None:
        """Forget the secrets of runs that are over, and those that are too old."""
        for run_id, (kept_at, _) in list(self._kept.items()):
            try:
                over = (await run_log.read_state(run_id)).final
            except TransportError:
                return
            if over or kept_at < now_ms() - KEEP_MS:
                self.forget(run_id)

    async def _fetched(self, run: RunCreated) -> bytes | None:
        try:
            call = RUN_SECRETS.at(replica=run.secrets_at)
            return (await self.bus.call(call, AskSecrets(run_id=run.run_id))).sealed
        except FaultError:
            return None


def _invalid(name: str, reason: str) -> FaultError:
    return FaultError(fault(_INVALID, f"{name}: {reason}", field=name))
