"""How long `make demo` takes where everything is installed."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.check import Check, at_most

__all__ = ["checks", "measure"]

_DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo.py"


def measure() -> dict[str, Any]:
    """What `make demo` runs after its setup; raises if a step of it fails."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-P", _DEMO], stdout=subprocess.DEVNULL, timeout=300, check=True)
    return {"seconds": time.perf_counter() - began}


def checks(report: dict[str, Any]) -> list[Check]:
    return [at_most("`make demo`, s", report["seconds"], 60)]
