"""A report of what a Weft has done, as one page of HTML that stands for itself."""

from __future__ import annotations

from actors.report.figures import ReportData
from actors.report.page import report_page

__all__ = ["ReportData", "report_page"]
