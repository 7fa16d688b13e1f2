"""The picture of a plan in a notebook: rows per level."""

from typing import Any

import numpy as np


def level_picture(rows: Any, width: int = 600, height: int = 160) -> str:
    """An SVG chart of the rows in each level, of at most 200 bars."""
    count = len(rows)
    if not count:
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20"/>'
    bars = min(count, 200)
    edges = np.linspace(0, count, bars + 1).astype(int)
    tall = np.maximum.reduceat(rows, edges[:-1]) / rows.max()
    step = (width - 20) / bars
    shapes = "".join(
        f'<rect x="{10 + k * step:.1f}" y="{height - 20 - (height - 45) * h:.1f}" '
        f'width="{max(step - 0.5, 0.5):.1f}" height="{(height - 45) * h:.1f}"/>'
        for k, h in enumerate(tall))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'font-family="sans-serif" font-size="12"><g fill="#2a6f97">{shapes}</g>'
            f'<text x="10" y="15">rows per level: {count:,} levels, at most {int(rows.max()):,} '
            f'rows</text><text x="10" y="{height - 5}">first level</text>'
            f'<text x="{width - 10}" y="{height - 5}" text-anchor="end">last</text></svg>')
