"""`make test`: the services that the tests need, started in a folder that goes away, and pytest between."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from chatapp.standalone.bootstrap import ROOT
from chatapp.standalone.engine import EngineStarter
from chatapp.standalone.site import Site, open_site
from chatapp.standalone.steps import SetupError, fail, say
from chatapp.standalone.storage import Storage
from chatapp.standalone.valkey import find_free_port
from inference.serving.profiles import SERVED_NAME

# An engine that is installed and built for the first time, on a slow line.
ENGINE_TIMEOUT_S = 1_800.0
NO_ENGINE = "--no-engine"
# Tests in these folders need no engine.
WITHOUT_ENGINE = ("tests/unit", "tests/architecture", "tests/integration")


def needs_engine(arguments: Sequence[str]) -> bool:
    """Whether pytest's arguments select anything that may ask the real model."""
    if NO_ENGINE in arguments:
        return False
    places = [argument for argument in arguments if (ROOT / argument.split("::", 1)[0]).exists()]
    return not places or not all(place.startswith(WITHOUT_ENGINE) for place in places)


class Services:
    """Postgres, Valkey and the real engine; each only where the environment names none."""

    def __init__(self, site: Site) -> None:
        self.environment = dict(os.environ)
        self._site = site
        self._storage = Storage(site)
        self._engine: EngineStarter | None = None

    def start(self, *, with_engine: bool) -> None:
        """Raises SetupError; `stop` ends what was started until then."""
        self._storage.start(self.environment)
        self.environment |= self._storage.urls
        if with_engine and not self.environment.get("LOCAL_ENGINE_URL", "").strip():
            say("  Starting the local engine; the first time it is installed and its model is built, for minutes")
            self._start_engine()

    def stop(self) -> None:
        if self._engine is not None:
            self._engine.stop()
        self._storage.stop()

    def _start_engine(self) -> None:
        """The model is built once, into the same folder as `make run` uses."""
        settled = threading.Event()
        told: dict[str, str] = {}

        def tell(state: str, share: float | None, message: str) -> None:
            told.update(state=state, message=message)
            if state != "loading":
                settled.set()

        self._engine = EngineStarter(self._site, model_site=open_site(), port=find_free_port(), tell=tell)
        self._engine.start()
        if not settled.wait(ENGINE_TIMEOUT_S) or told["state"] != "up":
            raise SetupError(f"The local engine did not start. {told.get('message', '')}")
        self.environment |= {"LOCAL_ENGINE_URL": self._engine.url, "LOCAL_ENGINE_MODEL": SERVED_NAME}


def run_tests(arguments: list[str]) -> int:
    """Returns pytest's status, or 1 when the services cannot be started."""
    folder = Path(tempfile.mkdtemp(prefix="chatapp-test-"))
    # The embedded Postgres is a user of its own when root starts it: it must pass through.
    folder.chmod(0o711)
    services = Services(Site(folder))
    try:
        say("Preparing the tests")
        services.start(with_engine=needs_engine(arguments))
        say("Running the tests")
        pytest = [sys.executable, "-m", "pytest", *(argument for argument in arguments if argument != NO_ENGINE)]
        return subprocess.run(pytest, cwd=ROOT, env=services.environment, check=False).returncode
    except SetupError as error:
        return fail(error)
    except KeyboardInterrupt:
        return 130
    finally:
        services.stop()
        shutil.rmtree(folder, ignore_errors=True)
