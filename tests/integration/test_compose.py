"""The compose file: read by a parser of the Compose specification, and checked for what matters when it runs."""

import json
import os
import re
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from compose_spec import PyOptions
from pydantic import BaseModel

from core.settings import Settings, read_settings
from tests.images.dockerfile import ROOT, instructions, stages
from tests.servers.neo4j_server import BROWSER_POLICY

COMPOSE = (ROOT / "docker" / "compose.yaml").read_text("utf-8")
EXAMPLE = (ROOT / ".env.example").read_text("utf-8")
GIVEN = {"NEO4J_PASSWORD", "MILVUS_PASSWORD", "REDIS_PASSWORD", "MINIO_PASSWORD", "API_KEY"}
OURS = ("api", "worker")
VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)(:\?|:-)?([^}]*)\}")
Services = dict[str, dict[str, Any]]


def interpolated(values: dict[str, str]) -> str:
    """As `docker compose` puts the values of .env in."""

    def value(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        return values.get(name, "") or (rest if kind == ":-" else "")

    return VARIABLE.sub(value, COMPOSE)


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """The file with secrets filled in, after a parser of the Compose specification has accepted all of it."""
    project = PyOptions(apply_merge=True).from_yaml(interpolated({name: f"given-{name}" for name in GIVEN}))
    project.validate()
    return project.to_dict()


@pytest.fixture(scope="module")
def services(compose: dict[str, Any]) -> Services:
    return compose["services"]


def test_every_image_is_pinned_by_an_exact_tag(services: Services):
    images = {service["image"] for service in services.values()}
    images |= {one.arguments[0] for one in instructions() if one.word == "FROM"}
    exact = re.compile(r"[\w./-]+:(v?\d+\.\d+\.\d+[\w.-]*|RELEASE\.\d{4}-\d\d-\d\dT[\d-]+Z)")
    assert [image for image in images if not exact.fullmatch(image)] == []


def test_our_image_bears_our_version(services: Services):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert {services[name]["image"] for name in OURS} == {f"hopweave:{version}"}


def test_the_parts_are_there(compose: dict[str, Any]):
    assert set(compose["services"]) == {*OURS, "neo4j", "milvus", "etcd", "minio", "bucket", "redis"}
    assert "5.26." in compose["services"]["neo4j"]["image"]  # the line that is tested


def test_ports_are_published_on_loopback_only(services: Services):
    ports = {name: service.get("ports", []) for name, service in services.items()}
    assert ports.pop("api") == ["127.0.0.1:8000:8000"]
    assert ports.pop("neo4j") == ["127.0.0.1:7474:7474", "127.0.0.1:7687:7687"]
    assert not any(ports.values())


def test_every_service_has_a_limit_of_memory(services: Services):
    """One that takes more and more must not end its neighbours."""
    assert [name for name, service in services.items() if not service.get("mem_limit")] == []


def test_neo4j_and_its_browser_tell_nobody_of_their_use(services: Services):
    environment = services["neo4j"]["environment"]
    assert environment["NEO4J_client_allow__telemetry"] == "false"
    assert environment["NEO4J_dbms_usage__report_enabled"] == "false"
    policy = environment["NEO4J_dbms_security_http__static__content__security__policy__header"]
    assert policy == BROWSER_POLICY, "the one that Browser is tested with"


def test_no_secret_has_a_default_and_none_is_written_down(services: Services):
    used = {(name, kind) for name, kind, _ in VARIABLE.findall(COMPOSE)}
    assert {name for name, kind in used if kind == ":?"} == GIVEN
    assert all(kind in (":?", ":-") for _, kind in used)
    secret = re.compile(r"PASSWORD|SECRET|TOKEN|KEYS|AUTH$|BROKER__URL")
    for name, service in services.items():
        for variable, value in service.get("environment", {}).items():
            if secret.search(variable):
                assert "given-" in str(value), f"{name}: {variable} is not filled in from .env"


def test_the_example_lists_what_is_asked_for():
    example = dict(line.split("=", 1) for line in EXAMPLE.splitlines() if line and not line.startswith("#"))
    asked = {name: rest if kind == ":-" else "" for name, kind, rest in VARIABLE.findall(COMPOSE)}
    assert example == asked


def test_what_runs_for_long_restarts_and_has_a_health_check(services: Services):
    assert services["bucket"]["restart"] == "no"
    for name, service in services.items():
        if name != "bucket":
            assert service["restart"] == "unless-stopped", name
            assert service["healthcheck"]["test"][0] == "CMD", name


def test_nothing_starts_before_what_it_needs(services: Services):
    for name in OURS:
        waits = {other: how["condition"] for other, how in services[name]["depends_on"].items()}
        assert waits == {
            **dict.fromkeys(("neo4j", "milvus", "redis"), "service_healthy"),
            "bucket": "service_completed_successfully",
        }
    assert set(services["milvus"]["depends_on"]) == {"etcd", "minio"}


def test_data_lies_in_named_volumes(compose: dict[str, Any]):
    volumes = [volume for service in compose["services"].values() for volume in service.get("volumes", [])]
    mounted = {volume.split(":")[0] for volume in volumes}
    assert mounted == set(compose["volumes"]) == {"hopweave", "neo4j", "milvus", "etcd", "minio", "redis"}


def test_our_containers_have_no_rights_to_lose(services: Services):
    for name in OURS:
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
        assert services[name]["security_opt"] == ["no-new-privileges:true"]
    users = [one.rest for one in stages()[-1] if one.word == "USER"]
    assert users == ["10001:10001"]


@pytest.mark.parametrize("name", OURS)
def test_settings_knows_every_variable(services: Services, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str):
    built_in = {n: v for one in stages()[-1] if one.word == "ENV" for n, v in one.assignments.items()}
    given = {**built_in, **services[name]["environment"]}
    ours = {variable: str(value) for variable, value in given.items() if variable.startswith("HOPWEAVE_")}
    assert [variable for variable in ours if not _is_setting(variable)] == []
    monkeypatch.chdir(tmp_path)  # where no hopweave.toml is
    for variable, value in ours.items():
        monkeypatch.setenv(variable, value)
    settings = read_settings()
    assert settings.on_servers
    assert settings.neo4j.password.get_secret_value() == "given-NEO4J_PASSWORD"
    assert settings.milvus.token.get_secret_value() == "root:given-MILVUS_PASSWORD"
    assert settings.broker.url == "redis://:given-REDIS_PASSWORD@redis:6379/0"
    keys = [key.get_secret_value() for key in settings.api.keys]
    assert keys == (["given-API_KEY"] if name == "api" else [])


_MODEL = {"HOPWEAVE_LLM__MODEL": "m", "HOPWEAVE_LLM__BASE_URL": "http://127.0.0.1:1/v1"}


@pytest.mark.parametrize(
    ("further", "extractor"),
    [({}, "pattern"), (_MODEL, "pattern+llm"), ({"HOPWEAVE_EXTRACTOR": "given"}, "given")],
)
def test_facts_are_extracted_where_a_model_is_configured(
    services: Services, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, further: dict[str, str], extractor: str
):
    """As Compose reads the files: later ones, and so those of the user, take the place of earlier ones."""
    monkeypatch.chdir(tmp_path)
    for name in OURS:
        files = [(file["path"], file.get("required", True)) for file in services[name]["env_file"]]
        assert files == [("compose.env", True), ("../hopweave.env", False)]
        assert not services[name]["environment"].keys() & {"HOPWEAVE_EXTRACTOR"}  # which would precede both
    lines = (ROOT / "docker" / "compose.env").read_text("utf-8").splitlines()
    ours = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    assert [variable for variable in ours if not _is_setting(variable)] == []
    for variable, value in {**ours, **further}.items():
        monkeypatch.setenv(variable, value)
    assert read_settings().extractor == extractor


def test_the_passwords_of_both_sides_agree(services: Services):
    api = services["api"]["environment"]
    assert services["neo4j"]["environment"]["NEO4J_AUTH"] == f"neo4j/{api['HOPWEAVE_NEO4J__PASSWORD']}"
    milvus = services["milvus"]["environment"]
    assert api["HOPWEAVE_MILVUS__TOKEN"] == f"root:{milvus['COMMON_SECURITY_DEFAULTROOTPASSWORD']}"
    minio = services["minio"]["environment"]
    for name in ("api", "worker"):
        assert services[name]["environment"]["AWS_SECRET_ACCESS_KEY"] == minio["MINIO_ROOT_PASSWORD"]
        assert services[name]["environment"]["AWS_ACCESS_KEY_ID"] == minio["MINIO_ROOT_USER"]
    assert milvus["MINIO_SECRET_ACCESS_KEY"] == minio["MINIO_ROOT_PASSWORD"]
    assert milvus["MINIO_ACCESS_KEY_ID"] == minio["MINIO_ROOT_USER"]
    assert f":{services['redis']['environment']['REDIS_PASSWORD']}@redis" in api["HOPWEAVE_BROKER__URL"]


def test_the_health_checks_fail_where_nothing_answers(services: Services):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    [image] = [one.rest.partition(" CMD ")[2] for one in instructions() if one.word == "HEALTHCHECK"]
    api, worker = (services[name]["healthcheck"]["test"][1:] for name in OURS)
    assert json.loads(image) == api
    for command in (api, worker):
        here = [part.replace(":8000/", f":{port}/") for part in command[1:]]
        environment = {**os.environ, "HOPWEAVE_BROKER__URL": f"redis://127.0.0.1:{port}/0"}
        words = [sys.executable, *here]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "refused" in done.stderr


def _is_setting(variable: str) -> bool:
    model: Any = Settings
    for part in variable.removeprefix("HOPWEAVE_").lower().split("__"):
        if not (isinstance(model, type) and issubclass(model, BaseModel)) or part not in model.model_fields:
            return False
        model = model.model_fields[part].annotation
    return True
