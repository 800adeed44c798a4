"""`make test`: the services that the tests need, started in a folder that goes away, and pytest between."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from chatapp.standalone.bootstrap import ROOT
from chatapp.standalone.engine import EngineStarter
from chatapp.standalone.postgres import EmbeddedPostgres
from chatapp.standalone.steps import SetupError, fail, say, step
from chatapp.standalone.valkey import EmbeddedValkey, find_free_port
from inference.serving.profiles import SERVED_NAME

# An engine that is installed and built for the first time, on a slow line.
ENGINE_TIMEOUT_S = 1_800.0


class Services:
    """Postgres, Valkey and, unless it is left out, the real engine; each only where the environment names none."""

    def __init__(self, folder: Path, *, with_engine: bool) -> None:
        self.environment: dict[str, str] = {}
        self._folder = folder
        self._postgres: EmbeddedPostgres | None = None
        self._valkey: EmbeddedValkey | None = None
        self._engine: EngineStarter | None = None
        if not os.environ.get("DATABASE_URL"):
            with step("Starting Postgres for the tests"):
                self._postgres = EmbeddedPostgres(folder / "postgres")
            self.environment["DATABASE_URL"] = self._postgres.url
        if not os.environ.get("REDIS_URL"):
            with step("Starting Valkey for the tests"):
                self._valkey = EmbeddedValkey(folder / "valkey", pid_folder=folder / "pids", log_folder=folder / "logs")
            self.environment["REDIS_URL"] = self._valkey.url
        if with_engine and not os.environ.get("LOCAL_ENGINE_URL"):
            self._start_engine()

    def stop(self) -> None:
        if self._engine is not None:
            self._engine.stop()
        if self._valkey is not None:
            self._valkey.process.stop()
        if self._postgres is not None:
            self._postgres.stop()

    def _start_engine(self) -> None:
        """The model is built once, into the same folder as `make run` uses."""
        data_dir = Path(os.environ.get("DATA_DIR") or ROOT / "data")
        told: dict[str, str] = {}
        self._engine = EngineStarter(
            data_dir=data_dir,
            port=find_free_port(),
            pid_folder=self._folder / "pids",
            log_folder=self._folder / "logs",
            tell=lambda state, share, message: told.update(state=state, message=message),
        )
        with step("Starting the local engine (the first time it is installed and its model is built: minutes)"):
            self._engine.start()
            ends_at = time.monotonic() + ENGINE_TIMEOUT_S
            while told.get("state") != "up":
                if told.get("state") == "down" or time.monotonic() > ends_at:
                    raise SetupError(f"The local engine did not start. {told.get('message', '')}")
                time.sleep(0.5)
        self.environment |= {"LOCAL_ENGINE_URL": self._engine.url, "LOCAL_ENGINE_MODEL": SERVED_NAME}
        httpx.get(self._engine.url.removesuffix("/v1") + "/health", timeout=10).raise_for_status()


def run_tests(arguments: list[str]) -> int:
    with_engine = "--no-engine" not in arguments
    arguments = [argument for argument in arguments if argument != "--no-engine"]
    folder = Path(tempfile.mkdtemp(prefix="chatapp-test-"))
    folder.chmod(0o711)
    services: Services | None = None
    try:
        say("Preparing the tests")
        services = Services(folder, with_engine=with_engine)
        say("Running the tests")
        environment = {**os.environ, **services.environment}
        return subprocess.run(
            [sys.executable, "-m", "pytest", *arguments], cwd=ROOT, env=environment, check=False
        ).returncode
    except SetupError as error:
        return fail(error)
    except KeyboardInterrupt:
        return 130
    finally:
        if services is not None:
            services.stop()
        shutil.rmtree(folder, ignore_errors=True)
