"""`make sbom`: all packages of the locks, by name, version and hash."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def described_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both descriptions."""
    folder = tmp_path_factory.mktemp("sbom")
    subprocess.run(["make", "--old-file=setup", "sbom", f"DIST={folder}"], cwd=_ROOT, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize(
    ("lock", "name"), [("requirements.lock", "hopweave.cdx.json"), ("models.lock", "hopweave-models.cdx.json")]
)
def test_each_package_of_the_lock_is_named_with_its_hashes(lock: str, name: str, described_in: Path) -> None:
    described = json.loads((described_in / name).read_text("utf-8"))
    assert described["bomFormat"] == "CycloneDX"
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    ours = described["metadata"]["component"]
    assert (ours["name"], ours["version"]) == (project["name"], project["version"])
    packages = (_ROOT / "docker" / lock).read_text("utf-8")
    named = sorted(re.findall(r"^([a-z0-9-]+)(?:\[[^]]*\])?==([^ ]+)", packages, re.MULTILINE))
    assert sorted((one["name"], one["version"]) for one in described["components"]) == named
    references = [hashed for one in described["components"] for hashed in one["externalReferences"]]
    sums = {one["content"] for reference in references for one in reference["hashes"]}
    assert sums == set(re.findall(r"--hash=sha256:([0-9a-f]{64})", packages))
