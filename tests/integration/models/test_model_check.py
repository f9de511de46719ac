"""`hopweave doctor` on language models, against real sockets."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

import app.container.adapters
from app.container import Container
from app.doctor.diagnosis import diagnose
from app.doctor.findings import Finding, Level
from app.doctor.installation import check_models
from core.settings import LlmSettings, RoleSettings, Settings
from models import make_chat_models
from tests.twins.chat_server import ChatServer, Reply
from tests.twins.embedder import TwinEmbedder

READY = Reply.json({"ready": True})


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(respond=lambda _: READY, models={"m", "planner"}) as server:
        yield server


async def check(settings: LlmSettings) -> list[Finding]:
    models = make_chat_models(settings, None, None)
    try:
        return await check_models(models, settings)
    finally:
        await models.close()


async def test_no_model_is_no_failure():
    [finding] = await check(LlmSettings())
    assert (finding.subject, finding.level, finding.remedy) == (
        "language model",
        Level.NOTE,
        "HOPWEAVE_LLM__MODEL sets one",
    )


@pytest.mark.parametrize(
    ("knows", "words"),
    [
        ({"json_schema"}, "by a JSON schema"),
        ({"json_object"}, "by JSON mode with a schema"),
        (set(), "by words alone (it knows neither a JSON schema nor JSON mode)"),
    ],
)
async def test_how_a_model_is_asked_for_json(server: ChatServer, knows: set[str], words: str):
    server.knows = knows
    [finding] = await check(LlmSettings(base_url=server.url, model="m"))
    assert finding.level is Level.OK
    assert finding.detail == f"m at {server.url} answers; it is asked for JSON {words}"


@pytest.mark.parametrize(
    ("model", "settings", "is_small"),
    [
        ("qwen2.5:1.5b", {}, True),
        ("qwen3:8b", {}, False),
        ("m", {}, False),
        ("m", {"profile": "small"}, True),
        ("qwen2.5:1.5b", {"profile": "large"}, False),
    ],
)
async def test_a_small_model_is_told(server: ChatServer, model: str, settings: dict[str, Any], *, is_small: bool):
    server.models = {model}
    [finding] = await check(LlmSettings(base_url=server.url, model=model, **settings))
    assert ("as a small model (HOPWEAVE_LLM__PROFILE)" in finding.detail) is is_small


async def test_a_mode_that_fails_without_a_word_is_not_shown(server: ChatServer):
    fault, ready = Reply(status=500, raw=b"Internal Server Error"), Reply(text='{"ready": true}')
    server.respond = lambda call: fault if "response_format" in call.body else ready
    [finding] = await check(LlmSettings(base_url=server.url, model="m", retries=0))
    assert finding.detail.endswith("it is asked for JSON by words alone (it knows neither a JSON schema nor JSON mode)")


async def test_a_server_that_ignores_what_it_is_asked(server: ChatServer):
    server.respond = lambda _: Reply(text="I am ready!")
    [finding] = await check(LlmSettings(base_url=server.url, model="m"))
    assert finding.level is Level.NOTE
    assert finding.detail.endswith("by a JSON schema, and answered otherwise")


async def test_each_model_is_asked_once(server: ChatServer):
    roles = {
        "plan": RoleSettings(model="planner"),
        "review": RoleSettings(model="planner", temperature=0.5),
        "answer": RoleSettings(temperature=0.1),
        "extract": RoleSettings(model="unknown"),
    }
    findings = await check(LlmSettings(base_url=server.url, model="m", roles=roles, retries=4))
    assert [(f.subject, f.level) for f in findings] == [
        ("language model", Level.OK),
        ("language model of extract", Level.PROBLEM),
        ("language model of plan, review", Level.OK),
    ]
    assert "The model `unknown` does not exist" in findings[1].detail
    assert len(server.calls) == 3


async def test_a_wrong_key(server: ChatServer):
    server.api_key = "right"
    [finding] = await check(LlmSettings(base_url=server.url, model="m", api_key=SecretStr("sk-very-wrong")))
    assert finding.level is Level.PROBLEM
    assert "401" in finding.detail
    assert "sk-very-wrong" not in finding.detail


async def test_a_model_without_address_and_key():
    [finding] = await check(LlmSettings(model="m"))
    assert finding.level is Level.PROBLEM
    assert "HOPWEAVE_LLM__BASE_URL" in finding.detail


async def test_a_model_that_only_thinks(server: ChatServer):
    server.respond = lambda _: Reply(text="", reasoning="hm", finish_reason="length")
    [finding] = await check(LlmSettings(base_url=server.url, model="m"))
    assert finding.level is Level.PROBLEM
    assert "HOPWEAVE_LLM__MAX_OUTPUT_TOKENS" in finding.detail


@pytest.mark.parametrize("reply", [Reply(text=""), Reply(text=" \n"), Reply(reasoning="hm")])
async def test_a_model_whose_answer_is_empty(server: ChatServer, reply: Reply):
    server.respond = lambda _: reply
    [finding] = await check(LlmSettings(base_url=server.url, model="m"))
    assert finding.level is Level.PROBLEM
    assert f"m at {server.url} answers, and its answer has no text: look into" in finding.detail
    assert "HOPWEAVE_LLM__MODEL" in finding.detail


async def test_doctor_looks_at_the_language_models(server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(app.container.adapters, "make_embedder", lambda _: TwinEmbedder())
    container = Container(Settings(data_dir=tmp_path, llm=LlmSettings(base_url=server.url, model="m")))
    findings = [finding async for finding in diagnose(container)]
    await container.close()
    assert [finding.level for finding in findings if finding.subject == "language model"] == [Level.OK]


async def test_the_context_and_the_speed_of_a_llama_server(server: ChatServer):
    server.model_fields = {"meta": {"n_ctx": 4096, "n_ctx_train": 32768}}
    timings = {"prompt_n": 39, "prompt_per_second": 46.774, "predicted_n": 15, "predicted_per_second": 11.457}
    choice = {"message": {"content": '{"ready": true}'}, "finish_reason": "stop"}
    server.respond = lambda _: Reply(raw=json.dumps({"choices": [choice], "timings": timings}).encode())
    server.models = {"m"}
    [finding] = await check(LlmSettings(base_url=server.url, model="m"))
    assert finding.detail.endswith("; it reads 46.8 and writes 11.5 tokens a second; its context is 4096 tokens")
    assert finding.level is Level.OK


async def test_a_speed_is_measured_where_none_is_reported(server: ChatServer):
    pieces = '{ "ready" : true }'
    for pace, is_told in ((0.05, True), (0.0, False)):  # the other one comes at once, as from a proxy that collects
        server.respond = lambda _, pace=pace: Reply(text=pieces, pace=pace)
        [finding] = await check(LlmSettings(base_url=server.url, model="m"))
        assert ("; it writes " in finding.detail) is is_told


@pytest.mark.parametrize(("context", "level"), [(4096, Level.NOTE), (16384, Level.OK), (None, Level.NOTE)])
async def test_an_ollama_that_would_truncate(server: ChatServer, context: int | None, level: Level):
    server.ollama_context = context
    server.respond = lambda _: replace(READY, fingerprint="fp_ollama")
    [finding] = await check(LlmSettings(base_url=server.url, model="m"))
    assert finding.level is level
    assert ("context is" in finding.detail) is (context is not None)
    assert ("truncates longer prompts unnoticed" in finding.detail) is (context is None)
    assert ("OLLAMA_CONTEXT_LENGTH=8192" in finding.remedy) is (level is Level.NOTE)
