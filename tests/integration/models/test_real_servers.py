"""Real servers of language models, asked by our adapter: what each takes, and what it says when it does not.

Skipped unless `HOPWEAVE_TEST_MODEL_SERVERS` names some, as `URL MODEL CONTEXT`, with commas between them:

    $ llama-server -m model.gguf --parallel 1 -c 1024 --port 8080
    $ OLLAMA_CONTEXT_LENGTH=1024 ollama serve
    $ python -m llama_cpp.server --model model.gguf --n_ctx 1024 --port 8081
    $ export HOPWEAVE_TEST_MODEL_SERVERS="http://127.0.0.1:8080/v1 any 1024,http://127.0.0.1:11434/v1 qwen3:0.6b 1024"
    $ pytest tests/integration/models/test_real_servers.py

`CONTEXT` is that of the server, in tokens: make it small, since a prompt as long as it is read. A model of half a
billion parameters will do. It need not answer well.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest

from core.errors import ContextTooLong, ModelFailed, ModelRefused
from core.trace import Trace
from models.chat.endpoint import Endpoint
from models.chat.openai_chat import OpenAIChat, OutputMode
from models.chat.probe import probe
from models.chat.wrappers.output_modes import OutputModes
from tests.twins.chat_requests import Verdict, ask

_SERVERS = [entry.split() for entry in os.environ.get("HOPWEAVE_TEST_MODEL_SERVERS", "").split(",") if entry.strip()]
_SENTENCE = "The house by the river was sold in spring. "
_SENTENCE_TOKENS = 10
_PATIENCE = 600.0

pytestmark = pytest.mark.skipif(not _SERVERS, reason="HOPWEAVE_TEST_MODEL_SERVERS names no server")


@dataclass(frozen=True, kw_only=True)
class Served:
    endpoint: Endpoint
    model: str
    context: int

    @property
    def chat(self) -> OutputModes:
        return OutputModes(OpenAIChat(self.model, self.endpoint))


@pytest.fixture(params=_SERVERS, ids=" ".join)
async def served(request: pytest.FixtureRequest) -> AsyncIterator[Served]:
    url, model, context = request.param
    endpoint = Endpoint(base_url=url, timeout=_PATIENCE)
    yield Served(endpoint=endpoint, model=model, context=int(context))
    await endpoint.close()


async def test_json_comes_in_a_mode_that_is_kept(served: Served) -> None:
    chat = served.chat
    for on_token in (None, lambda _: None):
        completion = await chat.complete(
            ask("Is water wet? Answer in JSON.", json=True, max_tokens=64), Trace(), on_token
        )
        Verdict.model_validate_json(completion.text)
        assert not completion.estimated, "it counts tokens, in streams too"
    assert chat.is_known
    assert chat.mode in (OutputMode.SCHEMA, OutputMode.OBJECT_OF_SCHEMA)


async def test_a_text_comes_in_pieces_and_may_be_cut(served: Served) -> None:
    pieces: list[str] = []
    completion = await served.chat.complete(ask("Count to one hundred.", max_tokens=4), Trace(), pieces.append)
    assert "".join(pieces) == completion.text
    assert len(pieces) > 1
    assert completion.cut
    assert completion.completion_tokens <= 4


async def test_a_prompt_that_is_too_long_is_told(served: Served) -> None:
    prompt = _SENTENCE * (served.context * 3 // 2 // _SENTENCE_TOKENS)
    pieces: list[str] = []
    for on_token in (pieces.append, None):
        with pytest.raises(ContextTooLong, match="tokens were sent"):
            await served.chat.complete(ask(prompt, max_tokens=2), Trace(), on_token)
    assert not pieces


async def test_a_prompt_that_fits_is_answered(served: Served) -> None:
    prompt = _SENTENCE * (served.context // 2 // _SENTENCE_TOKENS)
    completion = await served.chat.complete(ask(prompt, max_tokens=2), Trace())
    assert completion.prompt_tokens > served.context // 3
    again = await served.chat.complete(ask(prompt, max_tokens=2), Trace())
    assert again.prompt_tokens == completion.prompt_tokens, "what its cache has is counted, too"


async def test_a_second_call_waits_for_its_turn(served: Served) -> None:
    calls = [served.chat.complete(ask("Count to ten.", max_tokens=3), Trace()) for _ in range(3)]
    assert all(completion.text for completion in await asyncio.gather(*calls))


async def test_a_call_that_is_given_up_ends_at_the_server(served: Served) -> None:
    """The next call would otherwise wait for some thousand tokens of the first."""
    chat, begun = served.chat, asyncio.Event()
    endless = ask("Count to one hundred thousand, and write out each number in words.")
    call = asyncio.create_task(chat.complete(endless, Trace(), lambda _: begun.set()))
    await asyncio.wait_for(begun.wait(), _PATIENCE)
    call.cancel()
    await asyncio.wait([call])
    await asyncio.wait_for(chat.complete(ask("Say yes.", max_tokens=1), Trace()), _PATIENCE / 5)


async def test_a_wrong_model_is_no_refusal_of_json(served: Served) -> None:
    """llama-server and llama-cpp-python answer by the model that they have, whatever it is called."""
    chat = OutputModes(OpenAIChat("no-such-model", served.endpoint))
    with suppress(ModelRefused):
        await chat.complete(ask("Is water wet?", json=True, max_tokens=12), Trace())
    assert chat.mode is OutputMode.SCHEMA or chat.is_known


async def test_a_schema_that_no_grammar_has_is_refused_alone(served: Served) -> None:
    schema = {"type": "object", "properties": {"good": {"$ref": "#/nowhere"}}, "required": ["good"]}
    chat = served.chat
    await chat.complete(ask("Is water wet?", json=True, max_tokens=12), Trace())
    mode = chat.mode
    try:
        await chat.complete(replace(ask("Is water wet?", max_tokens=12), schema=schema), Trace())
    except ModelFailed as failed:
        raise AssertionError("a schema was refused, and no other mode was tried") from failed
    assert chat.mode is mode


async def test_the_doctor_sees_mode_context_and_speed(served: Served) -> None:
    seen = await probe(served.chat)
    assert seen.mode is not OutputMode.TEXT
    assert seen.context in (served.context, None)
    assert seen.written_per_second
