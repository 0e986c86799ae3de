"""nginx before several servers, each of which gets every so-manieth request, in a process and a folder of its own."""

from __future__ import annotations

import os
import shutil
import socket
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from urllib.parse import urlsplit

import anyio

PROGRAM = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
START_S = 90.0

_CONFIGURATION = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_processes 1;
{user}
events {{ worker_connections 1024; }}
http {{
    log_format served "$upstream_addr";
    access_log {folder}/served.log served;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream replicas {{
        {servers}
        keepalive 32;
    }}
    server {{
        listen 127.0.0.1:{port};
        client_max_body_size 8m;
        location / {{
            proxy_pass http://replicas;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $remote_addr;
            proxy_buffering off;
            proxy_request_buffering off;
            proxy_read_timeout 120s;
            # What a replica fails at is to be seen, and not tried again at another.
            proxy_next_upstream off;
        }}
    }}
}}
"""


@dataclass(frozen=True)
class Balancer:
    """Where clients connect; `served` counts by the address of a server."""

    url: str
    folder: Path

    def served(self) -> Counter[str]:
        """Count what each server has answered so far."""
        return Counter((self.folder / "served.log").read_text().split())


def free_port() -> int:
    """Find a port that nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@asynccontextmanager
async def balancer(folder: Path, port: int, servers: Sequence[str]) -> AsyncGenerator[Balancer]:
    """Run nginx while the block lasts, before the servers with these addresses."""
    assert PROGRAM is not None, "nginx is not installed"
    folder.mkdir(parents=True)
    lines = "\n        ".join(f"server {urlsplit(server).netloc};" for server in servers)
    user = "user root;" if os.geteuid() == 0 else ""
    text = _CONFIGURATION.format(folder=folder, port=port, servers=lines, user=user)
    configuration = folder / "nginx.conf"
    await anyio.Path(configuration).write_text(text)
    command = [PROGRAM, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(configuration)]
    async with await anyio.open_process(command, stdout=DEVNULL, stderr=DEVNULL) as process:
        try:
            await _until_it_listens(port)
            yield Balancer(f"http://127.0.0.1:{port}", folder)
        finally:
            process.terminate()
            with anyio.move_on_after(START_S, shield=True):
                await process.wait()


async def _until_it_listens(port: int) -> None:
    with anyio.fail_after(START_S):
        while True:
            try:
                await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
            except OSError:
                await anyio.sleep(0.02)
            else:
                return
