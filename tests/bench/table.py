"""What a benchmark found, and how it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """One figure: ours beside the peer's or the floor, and the bound that it must keep."""

    what: str
    ours: str
    peer: str
    figure: float
    bound: float
    sense: Literal["<=", ">="]
    unit: str = "x"

    @property
    def kept(self) -> bool:
        """Whether the figure keeps its bound."""
        return self.figure <= self.bound if self.sense == "<=" else self.figure >= self.bound


def show(rows: list[Row]) -> None:
    """Print the table."""
    table = Table("what", "ours", "beside", "figure", "bound", "", title="Weft, measured", title_justify="left")
    for row in rows:
        bound = f"{row.sense} {row.bound:g} {row.unit}"
        table.add_row(
            row.what, row.ours, row.peer, f"{row.figure:.3g} {row.unit}", bound, "kept" if row.kept else "MISSED"
        )
    Console(width=150).print(table)
