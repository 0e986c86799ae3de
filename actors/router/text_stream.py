"""What a model writes, told to the replica that waits for it, as it is written."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from bus import Publisher
from protocol.faults import FaultError
from protocol.models import ModelText
from protocol.replicas import Watch
from protocol.subjects import MODEL_TEXT


@dataclass
class TextStream:
    """The pieces of one call, numbered from 0; the first of another try says that what came before it is void."""

    bus: Publisher
    watch: Watch
    written: bool = field(default=False, init=False)
    """Whether this try has written anything."""
    _index: int = field(default=0, init=False)
    _void: bool = field(default=False, init=False)

    def begin(self) -> None:
        """Begin another try; what was written before is void."""
        self._void = self._void or self.written
        self.written = False

    async def write(self, text: str) -> None:
        """Publish a piece; who no longer hears it gets the whole with the answer, if it is wanted at all."""
        if not text:
            return
        piece = ModelText(token=self.watch.token, index=self._index, text=text, restarted=self._void)
        self._index, self.written, self._void = self._index + 1, True, False
        with suppress(FaultError):
            await self.bus.tell(MODEL_TEXT.at(replica=self.watch.replica), piece)
