"""Embeddings, asked by OpenAI's client over a real socket."""

from collections.abc import AsyncIterator

import numpy as np
import openai
import pytest

from tests.integration.api.asking import listening
from tests.integration.api.conftest import Server
from tests.twins.embedder import TwinEmbedder

_TEXTS = ["Ada Lovelace wrote the first program.", "北京大学位于北京。"]


@pytest.fixture
async def client(server: Server) -> AsyncIterator[openai.AsyncOpenAI]:
    async with listening(server) as url, openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:
        yield client


async def test_both_encodings_are_the_vectors_of_the_embedder(client: openai.AsyncOpenAI) -> None:
    expected = await TwinEmbedder().embed_passages(_TEXTS)
    plain = await client.embeddings.create(model="twin", input=_TEXTS, encoding_format="float", user="u")
    packed = await client.embeddings.create(model="twin", input=_TEXTS)  # the client asks for Base64
    for said in (plain, packed):
        assert [one.index for one in said.data] == [0, 1]
        assert np.allclose([one.embedding for one in said.data], expected, atol=1e-7)
        assert (said.model, said.object) == ("twin", "list")
        assert said.usage.prompt_tokens == said.usage.total_tokens == sum(TwinEmbedder().tokens.count(_TEXTS))


async def test_one_text_and_the_own_dimensions(client: openai.AsyncOpenAI) -> None:
    said = await client.embeddings.create(model="twin", input=_TEXTS[0], dimensions=64)
    assert len(said.data[0].embedding) == 64
    with pytest.raises(openai.BadRequestError, match="dimensions is 32; the vectors of 'twin' have 64"):
        await client.embeddings.create(model="twin", input=_TEXTS[0], dimensions=32)


async def test_what_cannot_be_embedded_is_named(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="this server embeds with 'twin'"):
        await client.embeddings.create(model="text-embedding-3-small", input="x")
    with pytest.raises(openai.BadRequestError, match=r"input\[1\] has 65 tokens, and the model reads 64"):
        await client.embeddings.create(model="twin", input=["short", "word " * 65])
    with pytest.raises(openai.BadRequestError, match="token numbers are refused"):
        await client.embeddings.create(model="twin", input=[[1, 2, 3]])
    for nothing in ([], "", ["x", ""]):
        with pytest.raises(openai.BadRequestError, match="at least 1"):
            await client.embeddings.create(model="twin", input=nothing)
