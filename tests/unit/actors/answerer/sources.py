"""Sources for the tests of the answerer, of our own writing."""

from __future__ import annotations

from actors.answerer.citable_source import CitableSource, citable
from actors.answerer.source import AnswerSource

TIDAL = """# Tidal power

The first large station was built at **La Rance**, Brittany, in 1966. It holds 240 MW — “the largest” for 45 years.

Opponents said that it would not harm the *estuary*. The station’s barrage is 750 m long.

| Station | Country | Power |
|---|---|---|
| Sihwa | South Korea | 254 MW |
| La Rance | France | 240 MW |

See [the list](https://tides.example/list) of all stations.
"""

URL = "https://tides.example/power"


def evidence(
    markdown: str = TIDAL, doc_id: str = "doc_1", url: str = URL, confidence: float | None = None
) -> CitableSource:
    return citable(AnswerSource(doc_id=doc_id, url=url, title="Tidal power", markdown=markdown, confidence=confidence))
