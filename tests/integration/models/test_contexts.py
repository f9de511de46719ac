"""Contexts that are too small: a server that truncates a prompt, and one whose context ends an answer."""

from collections.abc import AsyncIterator, Iterator

import pytest
from pydantic import SecretStr

from core.errors import ContextTooLong
from core.trace import Trace
from models.chat.endpoint import Endpoint
from models.chat.openai_chat import OpenAIChat
from tests.twins.chat_requests import ask
from tests.twins.chat_server import ChatServer, Reply

CONTEXT = 1024
SHORT = "Who sold the house by the river? " * 60
LONG = "The house by the river was sold in spring. " * 100
"""About 1070 tokens at four characters each: over the context, and not by much."""
LONGER = LONG * 2


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(models={"qwen:latest"}, ollama_context=CONTEXT) as server:
        server.models.add("qwen")
        yield server


@pytest.fixture
async def model(server: ChatServer) -> AsyncIterator[OpenAIChat]:
    endpoint = Endpoint(base_url=server.url, api_key=SecretStr("x"), timeout=60)
    yield OpenAIChat("qwen", endpoint)
    await endpoint.close()


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("streams", [True, False])
async def test_a_prompt_that_was_truncated_is_too_long(model: OpenAIChat, *, streams: bool):
    pieces: list[str] = []
    with pytest.raises(ContextTooLong, match="context of 1024 tokens and truncated the prompt to 1024"):
        await model.complete(ask(LONG), Trace(), pieces.append if streams else None)
    assert not pieces, "an answer to half a prompt is not shown"


async def test_a_prompt_that_fits_is_shown_as_it_comes(server: ChatServer, model: OpenAIChat):
    server.respond = lambda _: Reply(text="the miller sold it")
    for _ in range(3):
        pieces: list[str] = []
        assert (await model.complete(ask(SHORT), Trace(), pieces.append)).text == "the miller sold it"
        assert len(pieces) > 1
    assert server.pages == ["/api/ps"]


async def test_a_prompt_that_may_not_fit_is_shown_at_the_end(server: ChatServer, model: OpenAIChat):
    server.ollama_context = 4096
    server.respond = lambda _: Reply(text="the miller sold it")
    pieces: list[str] = []
    await model.complete(ask(LONG * 3), Trace(), pieces.append)
    assert pieces == ["the miller sold it"]


async def test_what_is_surely_too_long_is_not_sent_again(server: ChatServer, model: OpenAIChat):
    with pytest.raises(ContextTooLong, match="truncated"):
        await model.complete(ask(LONGER), Trace())
    with pytest.raises(ContextTooLong, match=r"1024 tokens \(about 2150 tokens were sent"):
        await model.complete(ask(LONGER), Trace())
    assert len(server.calls) == 1
    server.ollama_context = 4096  # started again
    assert (await model.complete(ask(LONGER), Trace())).text == "ok"


async def test_a_server_that_counts_only_what_its_cache_lacks_is_believed(server: ChatServer, model: OpenAIChat):
    server.ollama_context = None
    server.respond = lambda _: Reply(text="ok", counted=7)
    assert (await model.complete(ask(LONGER), Trace())).text == "ok"
    assert not server.pages


async def test_an_ollama_that_does_not_tell_its_context_is_believed(server: ChatServer, model: OpenAIChat):
    server.ollama_context = None
    server.respond = lambda _: Reply(text="ok", fingerprint="fp_ollama", counted=CONTEXT)
    assert (await model.complete(ask(LONGER), Trace())).text == "ok"


async def test_an_answer_that_the_context_ended_leaves_no_room(server: ChatServer, model: OpenAIChat):
    server.ollama_context = None
    server.model_fields = {"meta": {"n_ctx": CONTEXT}}
    server.respond = lambda _: Reply(text="once upon a time " * 6, counted=998, finish_reason="length")
    with pytest.raises(ContextTooLong, match="1024 tokens, of which a prompt of 998 left too few"):
        await model.complete(ask(SHORT), Trace())


@pytest.mark.parametrize(("counted", "words", "n_ctx"), [(998, 6, 8192), (100, 231, CONTEXT), (998, 6, None)])
async def test_other_answers_that_are_cut_are_answers(
    server: ChatServer, model: OpenAIChat, counted: int, words: int, n_ctx: int | None
):
    """By a limit of the endpoint's own; by a model that does not end; by an endpoint that tells no context."""
    server.ollama_context = None
    server.model_fields = {"meta": {"n_ctx": n_ctx}} if n_ctx else {}
    server.respond = lambda _: Reply(text="once upon a time " * words, counted=counted, finish_reason="length")
    assert (await model.complete(ask(SHORT), Trace())).cut


class GarbledPages(ChatServer):
    """Answers `/api/ps` with what no Ollama says."""

    garbage = b""

    def page(self, path: str) -> bytes | None:
        found = super().page(path)
        return self.garbage if path == "/api/ps" else found


@pytest.mark.parametrize(
    "garbage",
    [
        b'{"models": [{"name": ["x"], "context_length": 1024}]}',
        b'{"models": [{"name": "qwen", "context_length": "many"}, 7]}',
        b"[" * 200_000,
        b"[]",
        b'{"models": 1}',
        b"{",
    ],
)
async def test_a_page_that_is_garbage_leaves_the_context_unknown(garbage: bytes):
    with GarbledPages(
        models={"qwen:latest", "qwen"}, ollama_context=CONTEXT, respond=lambda _: Reply(text="sold")
    ) as server:
        server.garbage = garbage
        endpoint = Endpoint(base_url=server.url, api_key=SecretStr("x"), timeout=60)
        assert (await OpenAIChat("qwen", endpoint).complete(ask(LONG), Trace())).text == "sold"
        await endpoint.close()


@pytest.mark.parametrize(
    ("owner", "kind"),
    [
        ("library", "ollama"),
        ("llamacpp", "llama.cpp"),
        ("vllm", "vllm"),
        ("me", "openai-compatible"),
        (["vllm"], "openai-compatible"),
    ],
)
async def test_a_server_names_itself_in_its_list_of_models(
    server: ChatServer, model: OpenAIChat, owner: object, kind: str
):
    server.model_fields = {"owned_by": owner}
    assert await model.context.find_kind() == kind
    assert not server.calls


async def test_a_server_that_tells_nothing_has_no_kind_and_openai_is_not_asked():
    silent = Endpoint(base_url="http://127.0.0.1:9/v1", api_key=SecretStr("x"), timeout=60)
    assert await OpenAIChat("qwen", silent).context.find_kind() == "openai-compatible"
    await silent.close()
    public = Endpoint(api_key=SecretStr("x"), timeout=60)
    assert await OpenAIChat("qwen", public).context.find_kind() == "openai"
