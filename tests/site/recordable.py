"""Two applications that tell which of their controls were hit, and other versions of their pages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from tests.site.answers import Answer, Ask, text

SECRET: Final = "heddle-4417"
MUST_STOP: Final = ("alike", "gone", "usurped")

_FOLDER: Final = Path(__file__).parent / "pages" / "recordable"
_SCRIPT: Final = (_FOLDER / "versions.js").read_text("utf-8")
_NAMES: Final = re.compile(r"^  '([a-z ]+)'[(:]", re.MULTILINE)

VERSIONS: Final = tuple(one for one in _NAMES.findall(_SCRIPT.partition("const VERSIONS")[2]) if one not in MUST_STOP)
"""What was done to the pages, in words."""


class Recordable:
    """Answers for both applications in the version that is set, and keeps what their pages tell."""

    def __init__(self) -> None:
        self.version = ""
        self.hits = list[str]()

    def __call__(self, ask: Ask) -> Answer:
        """Answer /flows/shop, /flows/club and what they tell."""
        if ask.path == "/flows/hit":
            self.hits.append(ask.body.decode())
            return text("")
        page = (_FOLDER / f"{ask.path.rpartition('/')[2]}.html").read_text("utf-8")
        return text(f"{page}<script>const version = {json.dumps(self.version)};\n{_SCRIPT}</script>")
