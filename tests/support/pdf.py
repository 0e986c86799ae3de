"""Writes PDFs by hand, for tests: words in any place, lines, areas, pictures and links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

WIDTH, HEIGHT = 612, 792
"""The size of a page in points (US Letter)."""

LEADING = 1.25
"""How far apart lines are, in sizes of their letters."""


@dataclass
class Sheet:
    """A page: whatever is drawn comes after what was drawn before; y grows downwards from the top."""

    drawn: list[str] = field(default_factory=list[str])
    links: list[tuple[float, float, float, float, str]] = field(
        default_factory=list[tuple[float, float, float, float, str]]
    )

    def words(  # noqa: PLR0913, PLR0917 - words, their place and their look
        self, text: str, x: float, y: float, size: float = 11, font: str = "F1", more: str = ""
    ) -> Sheet:
        """Write one line of text with its foot at y; `more` are operators that come first (`1 1 1 rg`: white)."""
        shown = text.encode("cp1252", "replace").decode("latin-1")
        for special in "\\()":
            shown = shown.replace(special, f"\\{special}")
        self.drawn.append(f"q {more} BT /{font} {size} Tf 1 0 0 1 {x} {HEIGHT - y} Tm ({shown}) Tj ET Q")
        return self

    def lines(self, texts: Sequence[str], x: float, y: float, size: float = 11) -> float:
        """Write lines below each other, and give where the next would stand."""
        for text in texts:
            self.words(text, x, y, size)
            y += size * LEADING
        return y

    def line(self, x0: float, y0: float, x1: float, y1: float) -> Sheet:
        """Draw a line."""
        self.drawn.append(f"q .5 w {x0} {HEIGHT - y0} m {x1} {HEIGHT - y1} l S Q")
        return self

    def area(self, x: float, y: float, width: float, height: float, colour: str = "0 0 0") -> Sheet:
        """Fill a rectangle whose upper left corner is at x, y."""
        self.drawn.append(f"q {colour} rg {x} {HEIGHT - y - height} {width} {height} re f Q")
        return self

    def grid(self, rows: Sequence[Sequence[str]], x: float, y: float, width: float = 90, height: float = 20) -> Sheet:
        """Draw a table with lines around its cells."""
        across, down = len(rows[0]), len(rows)
        for row in range(down + 1):
            self.line(x, y + row * height, x + across * width, y + row * height)
        for column in range(across + 1):
            self.line(x + column * width, y, x + column * width, y + down * height)
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                self.words(text, x + column * width + 4, y + row * height + 14)
        return self

    def picture(self, x: float = 0, y: float = 0, width: float = WIDTH, height: float = HEIGHT) -> Sheet:
        """Draw a grey picture of one pixel."""
        self.drawn.append(f"q {width} 0 0 {height} {x} {HEIGHT - y - height} cm /I1 Do Q")
        return self

    def link(self, x: float, y: float, width: float, height: float, url: str) -> Sheet:
        """Lay a link over a rectangle."""
        self.links.append((x, HEIGHT - y - height, x + width, HEIGHT - y, url))
        return self


def pdf(
    sheets: Sequence[Sheet],
    info: dict[str, str] | None = None,
    *,
    language: str = "",
    encrypted: bool = False,
    turned: int = 0,
) -> bytes:
    """Write a document; an `encrypted` one opens with a password that nobody knows, `turned` is in degrees."""
    made = _Objects()
    pages = made.reserve()
    kids = _pages(made, sheets, pages, turned)
    made.fill(pages, f"<< /Type /Pages /Count {len(kids)} /Kids [{_references(kids)}] >>")
    spoken = f"/Lang ({language})" if language else ""
    root = made.add(f"<< /Type /Catalog /Pages {pages} 0 R {spoken} >>")
    told = " ".join(f"/{name} {_string(value)}" for name, value in (info or {}).items())
    about = made.add(f"<< {told} >>")
    lock = _LOCK if encrypted else ""
    return made.written(f"<< /Size {{size}} /Root {root} 0 R /Info {about} 0 R {lock} >>")


_SECRET, _ID = "11" * 32, "22" * 16
_LOCK = f"/Encrypt << /Filter /Standard /V 1 /R 2 /O <{_SECRET}> /U <{_SECRET}> /P -4 >> /ID [<{_ID}> <{_ID}>]"
_GREY = "/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray"


def _pages(made: _Objects, sheets: Sequence[Sheet], parent: int, turned: int) -> list[int]:
    kinds = (("F1", "Helvetica"), ("F2", "Helvetica-Bold"), ("F3", "Courier"))
    fonts = " ".join(
        f"/{name} {made.add(f'<< /Type /Font /Subtype /Type1 /BaseFont /{font} /Encoding /WinAnsiEncoding >>')} 0 R"
        for name, font in kinds
    )
    resources = f"<< /Font << {fonts} >> /XObject << /I1 {made.stream(bytes([128]), _GREY)} 0 R >> >>"
    kids: list[int] = []
    for sheet in sheets:
        drawn = made.stream("\n".join(sheet.drawn).encode("latin-1"))
        links = [
            made.add(f"<< /Type /Annot /Subtype /Link /Rect [{x0} {y0} {x1} {y1}] /A << /S /URI /URI ({url}) >> >>")
            for x0, y0, x1, y1, url in sheet.links
        ]
        kids.append(
            made.add(
                f"<< /Type /Page /Parent {parent} 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Rotate {turned} "
                f"/Contents {drawn} 0 R /Resources {resources} /Annots [{_references(links)}] >>"
            )
        )
    return kids


def _references(numbers: Sequence[int]) -> str:
    return " ".join(f"{number} 0 R" for number in numbers)


def _string(text: str) -> str:
    return f"<{(chr(0xFEFF) + text).encode('utf-16-be').hex()}>"


class _Objects:
    def __init__(self) -> None:
        self._bodies: list[bytes] = []

    def reserve(self) -> int:
        self._bodies.append(b"null")
        return len(self._bodies)

    def fill(self, number: int, body: str) -> None:
        self._bodies[number - 1] = body.encode("latin-1")

    def add(self, body: str) -> int:
        self._bodies.append(body.encode("latin-1"))
        return len(self._bodies)

    def stream(self, data: bytes, about: str = "") -> int:
        head = f"<< /Length {len(data)} {about} >>\nstream\n".encode("latin-1")
        self._bodies.append(head + data + b"\nendstream")
        return len(self._bodies)

    def written(self, trailer: str) -> bytes:
        out, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), list[int]()
        for number, body in enumerate(self._bodies, 1):
            places.append(len(out))
            out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
        start, size = len(out), len(self._bodies) + 1
        out += f"xref\n0 {size}\n0000000000 65535 f \n".encode()
        out += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
        out += f"trailer\n{trailer.replace('{size}', str(size))}\nstartxref\n{start}\n%%EOF\n".encode()
        return bytes(out)
