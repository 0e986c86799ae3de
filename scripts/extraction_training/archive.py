"""Writes a model as one file, the same bytes for the same arrays."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def write(arrays: Mapping[str, NDArray[Any]], path: Path) -> None:
    """Write arrays as an .npz; whoever reads meanwhile finds the old file whole."""
    fresh = path.with_suffix(".new")
    with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), buffer.getvalue(), zipfile.ZIP_DEFLATED, 9)
    fresh.replace(path)
