"""The stages of the Dockerfile carried out in clean Debian roots, since images cannot be built without an engine.

What differs from the image: the base is Debian's minimal system with Debian's own Python, instead of python:…-slim; and
certificates and name servers are this machine's.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.images.dockerfile import ROOT, Instruction, stages

__all__ = ["CleanRoot", "build", "make_base"]

SUITE = "bookworm"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
# How the tools in there find the registries from here.
_PASSED_ON = ("PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


@dataclass
class CleanRoot:
    """A root folder, and what ENV, WORKDIR and USER have said so far."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    workdir: str = "/"
    user: str = "0:0"

    def run(
        self, command: Sequence[str], *, network: bool, environment: dict[str, str] | None = None, timeout: float = 1500
    ) -> subprocess.CompletedProcess[str]:
        """Run `command` in here, with a /proc of its own; without network, loopback is all that there is."""
        inside = ["chroot", f"--userspec={self.user}", str(self.folder), "env", f"--chdir={self.workdir}", "-i"]
        merged = {"PATH": _PATH, **self.environment, **(environment or {})}
        inside += [f"{name}={value}" for name, value in merged.items()] + list(command)
        before = f"mount -t proc proc {self.folder}/proc && mount -t tmpfs tmpfs {self.folder}/dev/shm"  # noqa: S108 - its own
        before += "" if network else " && ip link set lo up"
        outside = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *([] if network else ["--net"])]
        return subprocess.run(
            [*outside, "sh", "-c", f'{before} && exec "$@"', "sh", *inside],
            capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip


def make_base(folder: Path) -> None:
    subprocess.run(
        ["debootstrap", "--variant=minbase", "--include=python3,python3-venv,ca-certificates", SUITE, str(folder)],
        check=True,
        capture_output=True,
    )
    (folder / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    shutil.copy(CERTIFICATES, folder / CERTIFICATES.lstrip("/"))
    shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
    shutil.copy("/etc/hosts", folder / "etc/hosts")


def build(base: Path, folder: Path, arguments: dict[str, str]) -> CleanRoot:
    """Carry out every stage; returns the last one's root. Raises `CalledProcessError` with what a step said."""
    roots: dict[str, CleanRoot] = {}
    root = CleanRoot(folder)
    for number, stage in enumerate(stages()):
        name = stage[0].arguments[-1] if "AS" in stage[0].arguments else str(number)
        root = roots[name] = CleanRoot(folder / name)
        subprocess.run(["cp", "--archive", "--reflink=auto", str(base), str(root.folder)], check=True)
        for one in stage[1:]:
            _carry_out(one, root, roots, arguments)
    return root


def _carry_out(one: Instruction, root: CleanRoot, roots: dict[str, CleanRoot], arguments: dict[str, str]) -> None:
    if one.word == "ARG":
        root.environment |= {name: arguments.get(name, value) for name, value in one.assignments.items()}
    elif one.word == "ENV":
        path = root.environment.get("PATH", _PATH)
        root.environment |= {name: value.replace("$PATH", path) for name, value in one.assignments.items()}
    elif one.word == "WORKDIR":
        root.workdir = one.rest
        (root.folder / one.rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
    elif one.word == "USER":
        root.user = one.rest
    elif one.word == "COPY":
        _copy(one, root, roots)
    elif one.word == "RUN":
        registries = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        done = root.run(
            ["/bin/sh", "-c", one.rest], network=True, environment={"SSL_CERT_FILE": CERTIFICATES, **registries}
        )
        if done.returncode:
            raise RuntimeError(
                f"RUN {one.rest}\nended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
            )


def _copy(one: Instruction, root: CleanRoot, roots: dict[str, CleanRoot]) -> None:
    *sources, target = one.arguments
    to = root.folder / (target if target.startswith("/") else f"{root.workdir}/{target}").lstrip("/")
    if "from" in one.flags:
        [source] = sources
        # Linked, since it is gigabytes and nothing changes them.
        subprocess.run(["cp", "--archive", "--link", f"{roots[one.flags['from']].folder}{source}", str(to)], check=True)
        return
    for source in sources:
        path = ROOT / source
        if path.is_dir():  # as Docker does: what is in it, not itself
            shutil.copytree(path, to, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            to.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to)
