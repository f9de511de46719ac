"""The size of a plain installation of the wheel, and whether it ingests and finds."""

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks.check import Check, at_least, at_most
from tests.e2e.wheels import ROOT, Installation, build_wheel

__all__ = ["checks", "measure"]

_TEXT = "Ada Lovelace wrote the first program. Charles Babbage knew her."


def measure() -> dict[str, Any]:
    """A new environment with the wheel and what `docker/requirements.lock` names; a package index must be reachable."""
    with tempfile.TemporaryDirectory(prefix="hopweave-bench-") as name:
        folder = Path(name)
        plain = Installation(folder, libraries=False)
        plain.install_locked(ROOT / "docker" / "requirements.lock")
        plain.install(build_wheel(ROOT, folder))
        plain.check()
        plain.environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's Python keeps its compiled modules
        (plain.work / "ada.txt").write_text(_TEXT, "utf-8")
        megabytes = plain.megabytes()
        ingested = plain.run(plain.command, "ingest", "ada.txt", "-c", "papers", "--json")
        found = plain.run(plain.command, "search", "Who wrote the first program?", "-c", "papers", "--json")
        return {
            "megabytes": megabytes,
            "megabytes_after_use": plain.megabytes(),
            "indexed": json.loads(ingested)["documents"]["indexed"],
            "hits": len(json.loads(found)["hits"]),
        }


def checks(report: dict[str, Any]) -> list[Check]:
    return [
        at_most("plain installation of the wheel: MB on disk", report["megabytes"], 1200),
        at_most("plain installation: MB on disk after use, with compiled modules", report["megabytes_after_use"], 1200),
        at_least("plain installation: documents indexed", report["indexed"], 1),
        at_least("plain installation: passages found", report["hits"], 1),
    ]
