"""The Helm chart: what it renders is valid for Kubernetes, and has what matters when it runs."""

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from core.settings import Settings, read_settings
from tests.images.dockerfile import ROOT, instructions
from tests.integration.helm.rendering import CHART, VALUES, hash_of, read_rendered, render

EACH = pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
NEEDS_HELM = pytest.mark.skipif(
    shutil.which("helm") is None,
    reason="helm is not installed (go install helm.sh/helm/v3/cmd/helm@latest); what it rendered before is tested",
)
SCHEMAS = json.loads((Path(__file__).parent / "schemas.json").read_text("utf-8"))
COMPOSE = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text("utf-8"))
_PER_POD = {"HOPWEAVE_API__SESSION_SECRET"}
"""What several hosts need, and one host with Compose does not."""


def _objects(values: Path, kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in read_rendered(values)[1] if one["kind"] == kind}


def _pods(values: Path) -> dict[str, dict[str, Any]]:
    """The specifications of pods, by the part: `api` and `worker`."""
    found = _objects(values, "Deployment").items()
    return {name.rpartition("-")[2]: one["spec"]["template"]["spec"] for name, one in found}


def _variables(values: Path, part: str) -> set[str]:
    [settings] = _objects(values, "ConfigMap").values()
    [container] = _pods(values)[part]["containers"]
    return {*settings["data"], *(one["name"] for one in container["env"])}


def _errors(one: Mapping[str, Any]) -> list[str]:
    schema = {"$ref": f"#/$defs/{SCHEMAS['kinds'][one['kind']]}", "$defs": SCHEMAS["$defs"]}
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(one)]


@EACH
def test_what_is_rendered_is_what_the_chart_says(values: Path) -> None:
    """After a change of the chart or the values: `python -m tests.integration.helm.rendering`."""
    assert read_rendered(values)[0] == hash_of(values)


@NEEDS_HELM
@EACH
def test_helm_renders_it_so(values: Path) -> None:
    assert render(values) == read_rendered(values)[1]


@NEEDS_HELM
def test_helm_finds_nothing_to_mend() -> None:
    ran = subprocess.run(
        ["helm", "lint", "--strict", CHART, "--values", VALUES[0]], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout


@NEEDS_HELM
@pytest.mark.parametrize("missing", ["settings.HOPWEAVE_NEO4J__URI", "settings.HOPWEAVE_FILES__URL", "secret.name"])
def test_what_is_missing_is_named(missing: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        render(VALUES[0], "--set", f"{missing}=")
    assert f"give {missing}" in refused.value.stderr


@EACH
def test_every_object_is_one_of_kubernetes(values: Path) -> None:
    objects = read_rendered(values)[1]
    assert {one["kind"] for one in objects} >= {"ConfigMap", "Deployment", "Service", "ServiceAccount"}
    assert {f"{one['kind']} {one['metadata']['name']}": _errors(one) for one in objects if _errors(one)} == {}


def test_the_schemas_refuse_what_kubernetes_does_not_know() -> None:
    [name] = [name for name in _objects(VALUES[0], "Deployment") if name.endswith("-api")]
    wrong = _objects(VALUES[0], "Deployment")[name]
    wrong["spec"]["template"]["spec"]["containers"][0]["readonly"] = True
    wrong["spec"]["replicas"] = "two"
    assert len(_errors(wrong)) == 2


@EACH
@pytest.mark.parametrize("part", ["api", "worker"])
def test_pods_have_no_rights(values: Path, part: str) -> None:
    pod = _pods(values)[part]
    [container] = pod["containers"]
    user, _ = next(one.arguments[0] for one in instructions() if one.word == "USER").split(":")
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": int(user),
        "runAsGroup": int(user),
        "fsGroup": int(user),
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    written = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert written == {"data": "/var/lib/hopweave", "tmp": "/tmp"}  # noqa: S108 - where it is mounted
    assert all(volume["emptyDir"]["sizeLimit"] for volume in pod["volumes"])
    assert container["resources"]["limits"]["memory"]


@EACH
def test_secrets_are_named_and_not_held(values: Path) -> None:
    for part, pod in _pods(values).items():
        [container] = pod["containers"]
        assert all(set(one) == {"name", "valueFrom"} for one in container["env"])
        keys = {one["name"] for one in container["env"]}
        assert ("HOPWEAVE_API__KEYS" in keys) == (part == "api"), "workers answer nobody"
    [settings] = _objects(values, "ConfigMap").values()
    secret = re.compile(r"PASSWORD|TOKEN$|SECRET|KEYS?$|BROKER")
    assert [name for name in settings["data"] if secret.search(name)] == []
    assert _objects(values, "Secret") == {}


def test_the_variables_are_those_of_compose() -> None:
    """`least` has no address of another bucket than Amazon's, which Compose has."""
    [least] = [values for values in VALUES if values.stem == "least"]
    for part in ("api", "worker"):
        of_compose = {*COMPOSE["services"][part]["environment"]} - {"<<", "AWS_ENDPOINT_URL", "AWS_ALLOW_HTTP"}
        # compose.env has the first, and the volume of Compose the second as a file
        more = {"HOPWEAVE_EXTRACTOR", "HOPWEAVE_CERTIFICATES__SECRET", *(_PER_POD if part == "api" else ())}
        assert _variables(least, part) == of_compose | more


@EACH
def test_the_settings_are_accepted(values: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [settings] = _objects(values, "ConfigMap").values()
    given = {"HOPWEAVE_BROKER__URL": "redis://broker:6379/0", "HOPWEAVE_API__SESSION_SECRET": "s" * 32}
    for name, value in {**settings["data"], **given}.items():
        monkeypatch.setenv(name, value)
    read: Settings = read_settings()
    assert read.on_servers
    if values.stem == "whole":
        assert (read.llm.concurrency, read.api.max_queued, read.oidc.client_id) == (8, 2_000_000, "hopweave-page")


@EACH
def test_selectors_find_the_pods_of_their_part(values: Path) -> None:
    deployments = {name.rpartition("-")[2]: one for name, one in _objects(values, "Deployment").items()}
    labels = {part: one["spec"]["template"]["metadata"]["labels"] for part, one in deployments.items()}
    assert labels["api"] != labels["worker"]
    for part, one in deployments.items():
        assert one["spec"]["selector"]["matchLabels"] == labels[part]
    [service] = _objects(values, "Service").values()
    assert service["spec"]["selector"] == labels["api"]
    for kind in ("PodDisruptionBudget", "NetworkPolicy"):
        for name, one in _objects(values, kind).items():
            chosen = one["spec"].get("selector") or one["spec"]["podSelector"]
            assert chosen["matchLabels"] == labels[name.rpartition("-")[2]]
    for name, one in _objects(values, "HorizontalPodAutoscaler").items():
        assert one["spec"]["scaleTargetRef"]["name"] == name
        assert "replicas" not in _objects(values, "Deployment")[name]["spec"], "an upgrade would scale back"


@EACH
def test_the_api_is_asked_for_its_health_and_has_time_to_end(values: Path) -> None:
    pods = _pods(values)
    [api], [worker] = pods["api"]["containers"], pods["worker"]["containers"]
    assert api["livenessProbe"]["httpGet"]["path"] == api["startupProbe"]["httpGet"]["path"] == "/healthz"
    assert api["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert worker["readinessProbe"]["exec"]["command"] == COMPOSE["services"]["worker"]["healthcheck"]["test"][1:]
    assert "livenessProbe" not in worker
    assert (api["args"][0], worker["args"][0]) == ("serve", "worker")
    drain = Settings().api.drain_seconds
    assert all(pod["terminationGracePeriodSeconds"] > drain for pod in pods.values())


def test_the_chart_has_our_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    assert (chart["version"], chart["appVersion"]) == (version, version)
