"""Makes the browser trust further certificate authorities, in the database that Chromium reads (Linux).

Chromium takes no file of authorities. It asks NSS, whose database lies in the home of its user; the browser has a home
of its own. NSS is a library with one state per process, so that a process of its own writes.
"""

from __future__ import annotations

import ctypes
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import structlog

log = structlog.stdlib.get_logger()

NOT_TRUSTED = "authorities_not_trusted"

_TIMEOUT_S = 10.0
_PLACE = ".pki/nssdb"
_LIBRARY = "libnss3.so"
_TRUSTED_FOR_SITES = b"C,,"
_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


async def trust(home: Path, ca_file: str) -> None:
    """Make a browser with this home trust the authorities of a PEM file; logs a failure."""
    command = [sys.executable, "-P", "-m", __spec__.name, str(home / _PLACE), ca_file]
    try:
        with anyio.fail_after(_TIMEOUT_S):
            await anyio.run_process(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError, TimeoutError) as error:
        log.warning(NOT_TRUSTED, ca_file=ca_file, reason=type(error).__name__)


class _Item(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("data", ctypes.c_char_p), ("len", ctypes.c_uint))  # type: ignore[mutable-override]  # ctypes reads it once


class _Trust(ctypes.Structure):
    _fields_ = (("site", ctypes.c_uint), ("mail", ctypes.c_uint), ("code", ctypes.c_uint))  # type: ignore[mutable-override]  # ctypes reads it once


def write(folder: Path, ca_file: Path) -> None:
    """Write a database of these authorities.

    Raises:
        OSError: there is no NSS, or it refuses.
        ValueError: the file holds no certificate.
    """
    certificates = _certificates(ca_file.read_text(encoding="ascii", errors="replace"))
    folder.mkdir(parents=True, exist_ok=True)
    nss = _nss()
    _expect(nss.NSS_Initialize(f"sql:{folder}".encode(), b"", b"", b"secmod.db", 0))
    slot, database = nss.PK11_GetInternalKeySlot(), nss.CERT_GetDefaultCertDB()
    _expect(nss.PK11_InitPin(slot, None, None))
    for number, der in enumerate(certificates):
        certificate = nss.CERT_NewTempCertificate(database, ctypes.byref(_Item(0, der, len(der))), None, 0, 1)
        trusted = _Trust()
        _expect(nss.PK11_ImportCert(slot, certificate, 0, f"weft {number}".encode(), 0))
        _expect(nss.CERT_DecodeTrustString(ctypes.byref(trusted), _TRUSTED_FOR_SITES))
        _expect(nss.CERT_ChangeCertTrust(database, certificate, ctypes.byref(trusted)))


def _certificates(text: str) -> list[bytes]:
    blocks = [block.partition(_END)[0] for block in text.split(_BEGIN)[1:]]
    if not blocks:
        raise ValueError("the file holds no certificate")
    return [ssl.PEM_cert_to_DER_cert(f"{_BEGIN}{block}{_END}\n") for block in blocks]


def _nss() -> Any:
    """Load NSS; every pointer has 64 bits, which ctypes does not guess."""
    nss: Any = ctypes.CDLL(_LIBRARY)
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    nss.NSS_Initialize.argtypes = [text, text, text, text, ctypes.c_uint32]
    nss.PK11_GetInternalKeySlot.restype = pointer
    nss.CERT_GetDefaultCertDB.restype = pointer
    nss.PK11_InitPin.argtypes = [pointer, text, text]
    nss.CERT_NewTempCertificate.argtypes = [pointer, pointer, text, number, number]
    nss.CERT_NewTempCertificate.restype = pointer
    nss.PK11_ImportCert.argtypes = [pointer, pointer, ctypes.c_ulong, text, number]
    nss.CERT_DecodeTrustString.argtypes = [pointer, text]
    nss.CERT_ChangeCertTrust.argtypes = [pointer, pointer, pointer]
    return nss


def _expect(status: int) -> None:
    if status != 0:
        raise OSError("NSS refuses")


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
