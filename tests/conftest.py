"""What holds for every test: examples that hypothesis makes up may take their time on a busy machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("weft", settings(), deadline=None)
settings.load_profile("weft")
