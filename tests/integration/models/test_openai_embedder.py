"""Against a server on a real socket."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from core.errors import HopweaveError, InvalidSettings, ModelFailed, Unavailable
from core.ports.embedding import Embedder
from core.ports.embedding_form import EmbeddingForm
from core.settings import EmbeddingSettings
from models import OpenAIEmbedder, make_embedder
from testing.contracts.embedder import EmbedderContract
from tests.twins.embedding_server import EmbeddingServer, Scripted

KEY = "sk-very-secret"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server


@pytest.fixture
async def embedder(server: EmbeddingServer) -> AsyncIterator[OpenAIEmbedder]:
    embedder = OpenAIEmbedder(model="e", base_url=server.url, api_key=SecretStr(KEY), max_tokens=64, retries=0)
    yield embedder
    await embedder.close()


class TestOpenAIEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, embedder: OpenAIEmbedder) -> Embedder:
        return embedder


async def test_many_texts_go_in_calls_of_128(server: EmbeddingServer, embedder: OpenAIEmbedder):
    await embedder.embed_passages([f"text {row}" for row in range(300)])
    assert [len(call["input"]) for call in server.calls] == [128, 128, 44]
    assert {call["model"] for call in server.calls} == {"e"}
    assert set(server.keys) == {KEY}


async def test_the_dimension_is_asked_for_once(server: EmbeddingServer, embedder: OpenAIEmbedder):
    assert [embedder.dimension, embedder.dimension] == [16, 16]
    assert len(server.calls) == 1


async def test_an_answer_tells_the_dimension_too(server: EmbeddingServer, embedder: OpenAIEmbedder):
    await embedder.embed_query("a question")
    assert embedder.dimension == 16
    assert len(server.calls) == 1


def test_each_event_loop_has_connections_of_its_own(server: EmbeddingServer):
    embedder = OpenAIEmbedder(model="e", base_url=server.url)

    async def ask() -> float:
        vector = await embedder.embed_query("a question")
        await embedder.close()
        return float(vector @ vector)

    assert [asyncio.run(ask()), asyncio.run(ask())] == pytest.approx([1, 1])


async def test_what_may_pass_is_tried_again(server: EmbeddingServer):
    embedder = OpenAIEmbedder(model="e", base_url=server.url, retries=1)
    server.script.append(Scripted(status=503, body={"error": {"message": "loading"}}))
    assert (await embedder.embed_query("a question")).shape == (16,)
    assert len(server.calls) == 2
    await embedder.close()


@pytest.mark.parametrize(
    ("status", "error"),
    [(500, Unavailable), (503, Unavailable), (429, Unavailable), (401, ModelFailed), (404, ModelFailed)],
)
async def test_a_refusal_is_told_in_the_words_of_the_endpoint(
    server: EmbeddingServer, embedder: OpenAIEmbedder, status: int, error: type[HopweaveError]
):
    server.script.append(Scripted(status=status, body={"error": {"message": f"no luck with {KEY} today"}}))
    with pytest.raises(error, match=rf"e at http://127.*{status}.*no luck with \*\*\* today") as raised:
        await embedder.embed_query("a question")
    assert KEY not in str(raised.value)


def _data(*rows: tuple[int, Any]) -> dict[str, Any]:
    entries = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in rows]
    return {"object": "list", "data": entries, "model": "e", "usage": {"prompt_tokens": 0, "total_tokens": 0}}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (_data((0, [1.0, 0.0])), "1 vectors for 2 texts"),
        (_data((0, [1.0, 0.0]), (0, [1.0, 0.0])), "2 vectors for 2 texts"),
        (_data((0, [1.0, 0.0]), (1, [1.0])), "different lengths"),
        (_data((0, []), (1, [])), "no length"),
        (_data((0, [1.0, 0.0]), (1, [0.0, 0.0])), "no embedding: a vector is zero"),
        (_data((0, [1.0, 0.0]), (1, [1.0, float("nan")])), "a number of a vector is not finite"),
        (_data((0, [1.0, 0.0]), (1, [1.0, 1e300])), "a number of a vector is not finite"),
        (_data((0, [1.0, 0.0]), (1, [1.0, 10**400])), "a number that is too large"),
        (_data((0, [1.0, 0.0]), (1, [1.0, None])), r"no number \(NoneType\)"),
        (_data((0, [1.0, 0.0]), (1, [1.0, True])), r"no number \(bool\)"),
        (_data((0, [1.0, 0.0]), (1, None)), "`embedding` is None, which is no list"),
        (_data((0, [1.0, 0.0]), (1, "????")), "no base64 of numbers"),
        (_data((0, [1.0, 0.0]), (1, "AAA=")), "no base64 of numbers"),
        (_data(("0", [1.0, 0.0]), (1, [1.0, 0.0])), "`index` is wrong"),
        (_data((10**400, [1.0, 0.0]), (1, [1.0, 0.0])), "`index` is wrong"),
        ({"data": [1, 2]}, "`data` is no list of objects"),
        ([1], "`data` is no list of objects"),
        (b'{"data": [' + b"9" * 5000 + b"]}", "it is no JSON"),
        ({"hello": "world"}, "`data` is no list"),
        (b"<html>", "it is no JSON"),
    ],
)
async def test_an_answer_of_no_use_is_the_models_failure(
    server: EmbeddingServer, embedder: OpenAIEmbedder, body: Any, words: str
):
    server.script.append(Scripted(status=200, body=body))
    with pytest.raises(ModelFailed, match=words) as raised:
        await embedder.embed_passages(["one", "two"])
    assert str(raised.value).startswith(f"e at {server.url} answered with what is no embedding: ")
    assert str(raised.value).endswith("; check HOPWEAVE_EMBEDDING__BASE_URL")
    assert len(str(raised.value)) < 300


async def test_an_answer_of_no_use_to_the_first_call_is_the_models_failure_too(
    server: EmbeddingServer, embedder: OpenAIEmbedder
):
    server.script.append(Scripted(status=200, body={"data": "abc"}))
    with pytest.raises(ModelFailed, match=r"no embedding: .*; check HOPWEAVE_EMBEDDING__BASE_URL"):
        _ = embedder.dimension


async def test_another_dimension_than_before_is_the_models_failure(server: EmbeddingServer, embedder: OpenAIEmbedder):
    await embedder.embed_query("a question")
    server.script.append(Scripted(status=200, body=_data((0, [1.0, 0.0]))))
    with pytest.raises(ModelFailed, match="2 dimensions after 16"):
        await embedder.embed_query("a question")


async def test_nobody_there_is_unavailable():
    with socket.create_server(("127.0.0.1", 0)) as hold:
        port = hold.getsockname()[1]
    embedder = OpenAIEmbedder(model="e", base_url=f"http://127.0.0.1:{port}/v1", retries=0)
    with pytest.raises(Unavailable, match=r"cannot be reached .*correct HOPWEAVE_EMBEDDING__BASE_URL"):
        await embedder.embed_query("a question")
    with pytest.raises(Unavailable, match="cannot be reached"):
        _ = embedder.dimension
    await embedder.close()


async def test_the_settings_make_it(server: EmbeddingServer):
    embedder = make_embedder(EmbeddingSettings(kind="openai", model="e", base_url=server.url, max_tokens=99))
    assert isinstance(embedder, OpenAIEmbedder)
    assert (embedder.model, embedder.dimension, embedder.tokens.max_tokens) == ("e", 16, 99)


def test_an_endpoint_without_address_and_key_is_refused():
    with pytest.raises(InvalidSettings, match="HOPWEAVE_EMBEDDING__BASE_URL"):
        make_embedder(EmbeddingSettings(kind="openai", model="e"))


async def test_prefixes_are_put_before_questions_and_passages(server: EmbeddingServer) -> None:
    embedder = OpenAIEmbedder(model="intfloat/multilingual-e5-small", base_url=server.url)
    assert embedder.model == "intfloat/multilingual-e5-small?query=query:%20&passage=passage:%20"
    await embedder.embed_query("Who?")
    await embedder.embed_passages(["Ada.", ""])
    assert [call["input"] for call in server.calls] == [["query: Who?"], ["passage: Ada.", "passage: "]]
    assert {call["model"] for call in server.calls} == {"intfloat/multilingual-e5-small"}
    assert embedder.tokens.max_tokens < 512, "the prefix takes a part of what the model reads"
    await embedder.close()


async def test_prefixes_of_the_settings_replace_the_usual_ones(server: EmbeddingServer) -> None:
    settings = EmbeddingSettings(
        kind="openai", model="nomic-embed-text", base_url=server.url, query_prefix="", passage_prefix=""
    )
    embedder = make_embedder(settings)
    assert embedder.model == "nomic-embed-text"
    await embedder.embed_query("Who?")
    assert server.calls[0]["input"] == ["Who?"]
    await embedder.close()


def _refusal(message: str, status: int = 400) -> Scripted:
    return Scripted(status=status, body={"error": {"message": message}})


@pytest.mark.parametrize("refusal", ["", "Model does not support matryoshka representation, dimensions cannot be set."])
async def test_an_endpoint_that_does_not_cut_has_its_vectors_cut_here(server: EmbeddingServer, refusal: str) -> None:
    embedder = OpenAIEmbedder(model="e", base_url=server.url, retries=0, form=EmbeddingForm(dimension=4))
    if refusal:
        server.script.append(_refusal(refusal))
    vectors = await embedder.embed_passages(["one", "two"])
    assert (embedder.model, embedder.dimension, vectors.shape) == ("e?dimension=4", 4, (2, 4))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    asked = [call.get("dimensions") for call in server.calls]
    assert asked == ([4, None] if refusal else [4])
    whole = OpenAIEmbedder(model="e", base_url=server.url)
    full = (await whole.embed_passages(["one"]))[0][:4]
    assert vectors[0] == pytest.approx(full / np.linalg.norm(full))
    await embedder.close()
    await whole.close()


async def test_vectors_that_are_shorter_than_the_cut_are_told(server: EmbeddingServer) -> None:
    embedder = OpenAIEmbedder(model="e", base_url=server.url, form=EmbeddingForm(dimension=64))
    with pytest.raises(ModelFailed, match=r"16 dimensions, which cannot be cut to 64: set HOPWEAVE_.*to 16 or less"):
        await embedder.embed_query("a question")
    await embedder.close()


@pytest.mark.parametrize(
    ("refusal", "sizes"),
    [
        # text-embeddings-inference: `router/src/http/types.rs`, as status 413 or 422
        (_refusal("batch size 50 > maximum allowed batch size 32", 422), [50, 32, 18]),
        (
            _refusal("'$.input' is invalid. Please check the API reference. Expected array length <= 20"),
            [50, 20, 20, 10],
        ),
        (_refusal("Requested 400000 tokens, max 300000 tokens per request"), [50, 25, 25]),
        (_refusal("Request Entity Too Large", 413), [50, 25, 25]),
    ],
)
async def test_a_call_with_too_many_texts_is_made_smaller_and_the_next_ones_too(
    server: EmbeddingServer, embedder: OpenAIEmbedder, refusal: Scripted, sizes: list[int]
) -> None:
    server.script.append(refusal)
    texts = [f"text {row}" for row in range(50)]
    vectors = await embedder.embed_passages(texts)
    assert [len(call["input"]) for call in server.calls] == sizes
    assert vectors[49] == pytest.approx(await embedder.embed_query(texts[49]))
    server.calls.clear()
    await embedder.embed_passages(texts)
    assert [len(call["input"]) for call in server.calls] == sizes[1:]


async def test_a_text_that_is_too_long_names_the_setting(server: EmbeddingServer, embedder: OpenAIEmbedder) -> None:
    server.script.append(_refusal("This model's maximum context length is 512 tokens, however you requested 700"))
    with pytest.raises(ModelFailed, match="HOPWEAVE_EMBEDDING__MAX_TOKENS"):
        await embedder.embed_passages(["long", "longer"])
    assert len(server.calls) == 1


async def test_a_model_that_the_endpoint_does_not_have(embedder: OpenAIEmbedder, server: EmbeddingServer) -> None:
    server.models = ["other", "e-large", "e-small", "x", "y"]
    for _ in range(2):
        server.script.append(_refusal('model "e" not found, try pulling it first', 404))
    wanted = r"EMBEDDING__MODEL: the endpoint offers 'other', 'e-large', 'e-small', 'x' and 1 more$"
    with pytest.raises(ModelFailed, match=wanted):
        await embedder.embed_query("a question")
    with pytest.raises(ModelFailed, match=wanted):
        _ = embedder.dimension


async def test_an_address_that_may_lack_its_version_and_a_password_in_it(server: EmbeddingServer) -> None:
    address = server.url.removesuffix("/v1")
    embedder = OpenAIEmbedder(model="e", base_url=address.replace("http://", "http://ada:hunter2@"), retries=0)
    server.script.append(Scripted(status=404, body=b"404 page not found"))
    with pytest.raises(ModelFailed, match=rf"EMBEDDING__BASE_URL may lack /v1: .* {address}/v1$") as raised:
        await embedder.embed_query("a question")
    assert "hunter2" not in str(raised.value)
    await embedder.close()
