"""Finds the Chromium of this machine, and holds its arguments and environment."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from actors.fetchers.playwright.browser_sandbox import of_this_machine
from actors.settings import Settings
from protocol.replicas import Absence

CURE = "apt install chromium-headless-shell (or chromium), or: playwright install chromium-headless-shell"

_DEBIAN = ("chromium-headless-shell", "chromium")
"""The shell is the same engine without what a window needs: it starts and fetches in less than half the time."""

_OTHERS = ("chromium-browser", "google-chrome", "google-chrome-stable")
_OWN = (
    "chromium_headless_shell-*/chrome-*/chrome-headless-shell",
    "chromium_headless_shell-*/chrome-*/headless_shell",
    "chromium-*/chrome-*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
    "chromium_headless_shell-*/chrome-*/chrome-headless-shell.exe",
    "chromium-*/chrome-*/chrome.exe",
)
_BEHIND_SCRIPTS = Path("/usr/lib/chromium")
"""Where Debian's scripts of the same names find the programs."""

_SCRIPT = b"#!"

ARGUMENTS = (
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-domain-reliability",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # The proxy resolves names; a lookup by any other way finds nothing.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
"""Arguments beside Playwright's own: no way out but the proxy, and no request that no page makes."""

UNWANTED = ("--disable-popup-blocking", "--disable-ipc-flooding-protection")
"""Arguments of Playwright's that remove protection."""

_KEPT_VARIABLES = (
    "PATH",
    "LANG",
    "LC_ALL",
    "TZ",
    "LD_LIBRARY_PATH",
    "FONTCONFIG_PATH",
    "FONTCONFIG_FILE",
    "SystemRoot",
)


def find(settings: Settings) -> Path | None:
    """Find the executable: the one of the settings, else Playwright's own, else the system's."""
    if settings.browser_executable:
        chosen = Path(settings.browser_executable).expanduser()
        return _program(chosen) if _runs(chosen) else None
    return next((_program(path) for path in _candidates() if _runs(path)), None)


def unavailability(settings: Settings) -> Absence | None:
    """Return why no page can be fetched in a browser, if so."""
    if find(settings) is not None:
        sandbox = of_this_machine(settings.browser_sandbox)
        return sandbox if isinstance(sandbox, Absence) else None
    if settings.browser_executable:
        cure = "Correct WEFT_BROWSER_EXECUTABLE, or leave it empty for the Chromium that is installed."
        return Absence(reason="The browser that is set is no program that can be run.", cure=cure)
    return Absence(reason="No Chromium is installed.", cure=CURE)


def environment(home: Path) -> dict[str, str | float | bool]:
    """Return the environment of the browser: none of our variables, which may hold secrets, and a home of its own."""
    kept = {name: value for name in _KEPT_VARIABLES if (value := os.environ.get(name)) is not None}
    return {**kept, "HOME": str(home), "TMPDIR": str(home), "XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home)}


def _candidates() -> Iterator[Path]:
    own = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or _cache())
    for pattern in _OWN:
        yield from sorted(own.glob(pattern), reverse=True)
    yield from (Path(path) for name in (*_DEBIAN, *_OTHERS) if (path := shutil.which(name)))


def _cache() -> Path:
    home = Path.home()
    match sys.platform:
        case "darwin":
            return home / "Library/Caches/ms-playwright"
        case "win32":
            return home / "AppData/Local/ms-playwright"
        case _:
            return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "ms-playwright"


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _program(path: Path) -> Path:
    """Resolve a wrapper script of Debian's to its program, so that the process that is started is Chromium itself."""
    behind = _BEHIND_SCRIPTS / path.name
    if not _runs(behind):
        return path
    with path.open("rb") as file:
        return behind if file.read(len(_SCRIPT)) == _SCRIPT else path
