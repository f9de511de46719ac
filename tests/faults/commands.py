"""Commands of Hopweave as processes over one data folder, with an embedding endpoint in place of a model."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.documents.endpoint import embedding_endpoint

__all__ = ["HOPWEAVE", "Commands", "commands"]

HOPWEAVE = Path(sys.executable).with_name("hopweave")
PATIENCE_SECONDS = 180

Commands = Callable[..., "subprocess.CompletedProcess[str]"]


@contextmanager
def commands(data: Path, folder: Path, more: Mapping[str, str] | None = None) -> Iterator[Commands]:
    """Yields a function that runs `hopweave ARGUMENTS…` in `folder` until it ends."""
    with embedding_endpoint(dimension=16):
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HOPWEAVE_DATA_DIR": str(data), **(more or {})}

        def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
            return subprocess.run(
                [HOPWEAVE, *map(str, arguments)],
                env=environment,
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=PATIENCE_SECONDS,
                check=False,
            )

        yield run
