"""Draws a reliability diagram: what was said against what came."""

from __future__ import annotations

from collections.abc import Sequence

_SIDE = 360
_EDGE = 48


def reliability(bins: Sequence[tuple[float, int, float, float]], title: str) -> str:
    """Draw one dot a bin (its start, count, mean confidence, mean score), larger where it counts more."""
    most = max((count for _, count, _, _ in bins), default=1)
    size = _SIDE + 2 * _EDGE
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}"',
            ' font-family="sans-serif" font-size="12">',
            f'<rect width="{size}" height="{size}" fill="white"/>',
            f'<text x="{size / 2}" y="24" text-anchor="middle" font-size="14">{title}</text>',
            *_grid(),
            *(_dot(sure, score, count, most) for _, count, sure, score in bins),
            f'<text x="{size / 2}" y="{size - 8}" text-anchor="middle">confidence</text>',
            f'<text x="14" y="{size / 2}" text-anchor="middle" transform="rotate(-90 14 {size / 2})">measured</text>',
            "</svg>",
            "",
        ]
    )


def _grid() -> list[str]:
    low, high = _EDGE, _EDGE + _SIDE
    found = [f'<path d="M{low} {high}L{high} {low}" stroke="#999" stroke-dasharray="4 4"/>']
    for tenth in range(0, 11, 2):
        at = tenth / 10
        x, y = _x(at), _y(at)
        found.append(f'<path d="M{x} {low}V{high}M{low} {y}H{high}" stroke="#ddd"/>')
        found.append(f'<text x="{x}" y="{high + 16}" text-anchor="middle">{at:.1f}</text>')
        found.append(f'<text x="{low - 6}" y="{y + 4}" text-anchor="end">{at:.1f}</text>')
    return found


def _dot(sure: float, score: float, count: int, most: int) -> str:
    radius = 3 + 9 * (count / most) ** 0.5
    label = f"{count} pages: said {sure:.3f}, measured {score:.3f}"
    return (
        f'<circle cx="{_x(sure):.1f}" cy="{_y(score):.1f}" r="{radius:.1f}" fill="#2563eb" fill-opacity="0.7">'
        f"<title>{label}</title></circle>"
    )


def _x(value: float) -> float:
    return round(_EDGE + value * _SIDE, 1)


def _y(value: float) -> float:
    return round(_EDGE + (1 - value) * _SIDE, 1)
