"""Renders the Helm chart with each file of values, into `rendered`: `python -m tests.integration.helm.rendering`.

`helm` takes minutes to install, so the tests read what is rendered here, and compare it with the chart by a hash. Where
`helm` is installed, they render again.
"""

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.images.dockerfile import ROOT

__all__ = ["CHART", "RELEASE", "VALUES", "hash_of", "read_rendered", "render", "rendered_path"]

CHART = ROOT / "docker" / "helm" / "hopweave"
RELEASE = "work"
_HERE = Path(__file__).parent
VALUES = sorted((_HERE / "values").glob("*.yaml"))


def rendered_path(values: Path) -> Path:
    return _HERE / "rendered" / values.name


def hash_of(values: Path) -> str:
    """Returns the hash of the chart and of a file of values."""
    summed = hashlib.sha256()
    for file in (*sorted(one for one in CHART.rglob("*") if one.is_file()), values):
        summed.update(f"{file.relative_to(ROOT).as_posix()}\n{len(file.read_bytes())}\n".encode() + file.read_bytes())
    return summed.hexdigest()


def read_rendered(values: Path) -> tuple[str, list[dict[str, Any]]]:
    """Returns the hash of what was rendered, and its objects."""
    text = rendered_path(values).read_text("utf-8")
    return text.partition("\n")[0].removeprefix("# "), list(yaml.safe_load_all(text))


def render(values: Path, *more: str) -> list[dict[str, Any]]:
    """Returns the objects, by kind and name. Raises `CalledProcessError` if helm refuses the values."""
    command = ["helm", "template", RELEASE, str(CHART), "--namespace", "search", "--values", str(values), *more]
    # A helm that `go install` has built takes the cluster for Kubernetes 1.20.
    ran = subprocess.run([*command, "--kube-version", "1.25.0"], capture_output=True, text=True, check=True)
    return sort_objects(list(yaml.safe_load_all(ran.stdout)))


def sort_objects(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted((one for one in objects if one), key=lambda one: (one["kind"], one["metadata"]["name"]))


def write(values: Path, objects: list[dict[str, Any]]) -> None:
    text = yaml.safe_dump_all(objects, sort_keys=True, width=120)
    rendered_path(values).write_text(f"# {hash_of(values)}\n{text}", "utf-8")


if __name__ == "__main__":
    if shutil.which("helm") is None:
        raise SystemExit("helm is not installed: go install helm.sh/helm/v3/cmd/helm@latest")
    for one in VALUES:
        write(one, render(one))
