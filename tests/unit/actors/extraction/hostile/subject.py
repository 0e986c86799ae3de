"""What is put to the test: the whole extraction, and the bodies that it may refuse."""

from __future__ import annotations

from pathlib import Path
from time import thread_time

from actors.extraction.extraction import Extraction
from actors.extraction.page import extract
from actors.fetchers.script_engine import evaluate
from protocol.faults import Category, Code, FaultError

URL = "https://a.example/guide/looms"

__all__ = ["URL", "Extraction", "answered", "extract", "peak"]


def answered(body: bytes, content_type: str = "text/html") -> Extraction | Code:
    """Extract; gives the code of a fault that a page may have, and raises everything else."""
    try:
        return extract(body, content_type, URL, include_html=True, evaluate=evaluate, clock=thread_time)
    except FaultError as error:
        if error.fault.category is not Category.CONTENT:
            raise
        return error.fault.code


def peak(body: bytes) -> int:
    """Extract, and give the most bytes that this process has ever held."""
    extract(body, "text/html", URL, evaluate=evaluate)
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1_024
