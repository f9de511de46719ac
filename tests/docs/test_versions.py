"""Versions that are named in several places: one place decides, and the others agree with it.

Hopweave's own version and its dependencies: `pyproject.toml`. Servers of a deployment, and Neo4j also in tests:
`docker/compose.yaml`. Servers that only tests use: `tests/servers/locks` and `tests/servers/poms`.
"""

import re
import tomllib
from typing import Any

import yaml

from tests.docs.pages import DOCS, ROOT
from tests.servers.install import image_version

_PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def text(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


def pythons() -> list[str]:
    """The versions of the classifiers."""
    prefix = "Programming Language :: Python :: 3."
    return [one.rpartition(" ")[2] for one in _PROJECT["project"]["classifiers"] if one.startswith(prefix)]


def first(pattern: str, path: str) -> str:
    found = re.search(pattern, text(path), re.MULTILINE)
    assert found, f"{path} has no {pattern}"
    return found[1]


def test_our_version_is_in_one_place() -> None:
    """The image's tag is compared with it in the tests of the Compose file; `docs/openapi.json` is made from it."""
    version = re.escape(_PROJECT["project"]["version"])
    pages = [*DOCS.glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "docker" / "Dockerfile"]
    assert [page.name for page in pages if re.search(rf"hopweave[:= ]+v?{version}\b", page.read_text("utf-8"))] == []


def test_the_oldest_python_is_that_of_the_checks() -> None:
    oldest = pythons()[0]
    assert _PROJECT["project"]["requires-python"] == f">={oldest}"
    assert "python_version" not in _PROJECT["tool"]["mypy"]  # each is checked by itself: stubs differ
    assert "target-version" not in _PROJECT["tool"]["ruff"]  # ruff takes it from requires-python
    assert f"Python ≥ {oldest}" in text("README.md")


def test_the_image_has_one_python_that_is_supported() -> None:
    bases = set(re.findall(r"^FROM (python:\S+)", text("docker/Dockerfile"), re.MULTILINE))
    assert len(bases) == 1
    assert first(r"^FROM python:(\d+\.\d+)", "docker/Dockerfile") in pythons()


def test_the_workflow_runs_the_targets_of_a_developer_on_every_python() -> None:
    workflow = yaml.safe_load(text(".github/workflows/tests.yml"))
    assert workflow["permissions"] == {"contents": "read"}
    targets = set(re.findall(r"^([a-z-]+):.*## ", text("Makefile"), re.MULTILINE))
    called = set()
    for job in workflow["jobs"].values():
        assert "permissions" not in job
        assert job["strategy"]["matrix"]["python"] == pythons()
        commands = [step["run"] for step in job["steps"] if "run" in step]
        called |= {target for command in commands for target in re.findall(r"^make ([a-z-]+)", command)}
    assert {"check", "test", "test-servers"} <= called <= targets


def test_pages_name_the_servers_that_the_tests_run() -> None:
    neo4j = image_version("neo4j")
    line = ".".join(neo4j.split(".")[:2])
    milvus = first(r"^milvus==([\d.]+)", "tests/servers/locks/milvus.txt")
    lite = first(r"^milvus-lite==([\d.]+)", "tests/servers/locks/milvus-lite.txt")
    browser = first(r"neo4j-browser</artifactId>\s*<version>(\d+\.\d+)", "tests/servers/poms/neo4j.xml")
    proxy = first(r"s3proxy</artifactId>\s*<version>(\d+\.\d+)", "tests/servers/poms/s3.xml")
    servers, deploy = text("docs/servers.md"), text("docs/deploy.md")
    for named in (f"Neo4j {line}", f"Neo4j Browser {browser}", f"Milvus {milvus}", f"milvus-lite {lite}"):
        assert named in servers
    assert f"S3Proxy {proxy}" in servers
    assert f"Neo4j {line} (LTS) Community, Milvus {milvus}, milvus-lite {lite}" in deploy
    others = set(re.findall(r"Milvus (2\.3\.\d+)", servers + deploy)) | set(re.findall(r"Neo4j (5\.26\.\d+)", deploy))
    assert others <= {milvus, neo4j}
