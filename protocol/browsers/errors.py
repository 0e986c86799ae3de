"""The errors of the tool layer (002 §7.1): what tools of a browser, and steps of a run, fail with."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from protocol.faults import Code


class ErrorCode(StrEnum):
    """The codes of the tool layer (002 §7.1)."""

    ELEMENT_NOT_FOUND = "ELEMENT_NOT_FOUND"
    NAVIGATION_TIMEOUT = "NAVIGATION_TIMEOUT"
    SESSION_NOT_FOUND = "SESSION_NOT_FOUND"
    PAGE_CRASHED = "PAGE_CRASHED"
    INVALID_PARAMETER = "INVALID_PARAMETER"
    EXECUTION_ERROR = "EXECUTION_ERROR"


ERROR_CODES: Mapping[Code, ErrorCode] = MappingProxyType(
    {
        Code.ELEMENT_NOT_FOUND: ErrorCode.ELEMENT_NOT_FOUND,
        Code.NETWORK_TIMEOUT: ErrorCode.NAVIGATION_TIMEOUT,
        Code.INTERNAL_DEADLINE: ErrorCode.NAVIGATION_TIMEOUT,
        Code.BROWSER_PAGE_HUNG: ErrorCode.NAVIGATION_TIMEOUT,
        Code.SESSION_NOT_FOUND: ErrorCode.SESSION_NOT_FOUND,
        Code.PAGE_CRASHED: ErrorCode.PAGE_CRASHED,
        Code.VALIDATION_INVALID_REQUEST: ErrorCode.INVALID_PARAMETER,
        Code.SECURITY_URL_BLOCKED: ErrorCode.INVALID_PARAMETER,
        Code.SECURITY_ADDRESS_BLOCKED: ErrorCode.INVALID_PARAMETER,
    }
)
"""The code of the tool layer for a code of ours; every other one is an EXECUTION_ERROR."""
