"""Wheels built from this checkout, and virtual environments into which they are installed.

An environment sees the libraries of the one that runs the tests, but not the editable install in it: Python processes
`.pth` files of its own site-packages only, not of a folder that such a file adds to the path.
"""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

__all__ = ["ROOT", "Installation", "build_sdist", "build_wheel", "write_neighbour"]

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 240
_UV = Path(sys.executable).with_name("uv")


def build_wheel(source: Path, folder: Path) -> Path:
    """Builds the wheel of a source tree or an sdist."""
    return _build("--wheel", source, folder, "*.whl")


def build_sdist(folder: Path) -> Path:
    """Builds the sdist of this checkout."""
    return _build("--sdist", ROOT, folder, "*.tar.gz")


def write_neighbour(folder: Path) -> Path:
    """Writes the wheel of another package that has its own `core`, `app` and `api`."""
    wheel = folder / "neighbour-1.0-py3-none-any.whl"
    files = {f"{name}/__init__.py": f"NAME = 'the {name} of neighbour'\n" for name in ("core", "app", "api")}
    info = "neighbour-1.0.dist-info"
    files[f"{info}/METADATA"] = "Metadata-Version: 2.1\nName: neighbour\nVersion: 1.0\n"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(wheel, "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return wheel


class Installation:
    """A virtual environment with an empty folder to work in, and a data folder of its own."""

    def __init__(self, folder: Path, *, libraries: bool = True) -> None:
        """Without `libraries`, nothing is in it before `install_locked`."""
        self._bin = folder / "venv" / "bin"
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        venv.create(folder / "venv", symlinks=True)
        self.site = next((folder / "venv").glob("lib/python*/site-packages"))
        if libraries:
            (self.site / "libraries.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
        self._own = set(self.site.iterdir())
        caches = folder / "caches"
        self.environment = {
            **os.environ,
            "XDG_CACHE_HOME": str(caches),
            "XDG_DATA_HOME": str(folder / "data"),
            "HF_HUB_OFFLINE": "1",
        }

    @property
    def command(self) -> Path:
        return self._bin / "hopweave"

    def installed(self) -> set[str]:
        """Names of what lies in site-packages, but for what the environment came with."""
        return {path.name for path in set(self.site.iterdir()) - self._own if path.name != "__pycache__"}

    def install(self, *wheels: Path) -> None:
        for wheel in wheels:
            _run([_UV, "pip", "install", "--quiet", "--no-deps", "--python", self._bin / "python", wheel])

    def install_locked(self, lock: Path) -> None:
        """Installs what the lock names, as a user's installer would, who takes the newest: with all dependencies."""
        python = self._bin / "python"
        _run([_UV, "pip", "install", "--quiet", "--require-hashes", "--python", python, "--requirement", lock])

    def check(self) -> None:
        """Fails if something that an installed package requires is missing."""
        _run([_UV, "pip", "check", "--python", self._bin / "python"])

    def megabytes(self) -> float:
        return sum(file.lstat().st_size for file in self._bin.parent.rglob("*") if file.is_file()) / 1e6

    def uninstall(self, name: str, *, with_pip: bool = False) -> None:
        if with_pip:
            _run([sys.executable, "-m", "pip", "--python", self._bin / "python", "uninstall", "--quiet", "--yes", name])
        else:
            _run([_UV, "pip", "uninstall", "--quiet", "--python", self._bin / "python", name])

    def python(self, *arguments: str) -> str:
        """Runs Python as a user does, in the working folder; returns what it prints."""
        return self.run(self._bin / "python", *arguments)

    def run(self, program: Path, *arguments: object) -> str:
        """Runs a program in the working folder; returns what it prints."""
        return _run([program, *map(str, arguments)], self.work, self.environment)


def _build(kind: str, source: Path, folder: Path, pattern: str) -> Path:
    _run([_UV, "build", "--quiet", kind, "--out-dir", folder, source])
    [built] = folder.glob(pattern)
    return built


def _run(command: Sequence[str | Path], folder: Path | None = None, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout
