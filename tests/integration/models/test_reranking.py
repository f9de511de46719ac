"""Rerankers: a tiny cross-encoder and tiny models of ColBERT that are made here, and an endpoint over a socket."""

import asyncio
import json
import shutil
import string
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pytest
from pydantic import SecretStr, ValidationError

from core.errors import HopweaveError, InvalidSettings, ModelFailed, Unavailable
from core.ports.retrieval import Reranker
from core.settings import RerankerSettings
from models.rerankers import ColBertReranker, CrossEncoderReranker, HttpReranker
from models.rerankers.choice import make_reranker
from tests.twins.json_server import Reply
from tests.twins.rerank_server import Product, RerankServer

if TYPE_CHECKING:
    from transformers import BertConfig

KEY = "rk-secret-0123456789"
TEXTS = ["bread is made of flour", "Hank Snow sang Hello Love", "zebras eat grass", ""]
QUESTION = "Who sang Hello Love?"


def _make_tokenizer(folder: Path) -> int:
    """Writes a tokenizer of characters, and returns the number of its pieces."""
    from transformers import BertTokenizerFast

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]", *string.printable[:94]]
    pieces += [f"##{piece}" for piece in string.printable[:94]]
    tokenizer = BertTokenizerFast(vocab={piece: number for number, piece in enumerate(pieces)})
    tokenizer.save_pretrained(folder)
    return len(tokenizer)


def _make_config(pieces: int, labels: int = 1) -> "BertConfig":
    import torch
    from transformers import BertConfig

    torch.manual_seed(0)
    return BertConfig(
        vocab_size=pieces,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
        initializer_range=1.0,
        num_labels=labels,
    )


def make_cross_encoder(folder: Path, labels: int = 1) -> Path:
    from transformers import BertForSequenceClassification

    BertForSequenceClassification(_make_config(_make_tokenizer(folder), labels)).save_pretrained(folder)
    return folder


def make_encoder(folder: Path) -> Path:
    """Writes an encoder without a projection of tokens, as of any embedding model."""
    from transformers import BertModel

    BertModel(_make_config(_make_tokenizer(folder))).save_pretrained(folder)
    return folder


def make_multi_vector(folder: Path) -> Path:
    """Writes a model of ColBERT as sentence-transformers saves it."""
    from sentence_transformers import MultiVectorEncoder

    MultiVectorEncoder(str(make_encoder(folder / "encoder"))).save_pretrained(str(folder / "saved"))
    return folder / "saved"


def make_stanford(folder: Path) -> Path:
    """Writes a model of ColBERT in the form of ColBERTv2's own files."""
    import torch
    from safetensors.torch import load_file, save_file

    make_encoder(folder)
    weights = {f"bert.{name}": weight for name, weight in load_file(folder / "model.safetensors").items()}
    projection = torch.randn(16, 32)
    save_file({**weights, "linear.weight": projection}, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["HF_ColBERT"]}))
    (folder / "artifact.metadata").write_text(json.dumps({"query_maxlen": 40, "doc_maxlen": 60}))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_cross_encoder(tmp_path_factory.mktemp("cross-encoder"))


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer(api_key=KEY) as server:
        yield server


@pytest.fixture(scope="module")
def multi_vector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_multi_vector(tmp_path_factory.mktemp("colbert"))


@pytest.fixture(params=["cross-encoder", "colbert", *get_args(Product)])
async def reranker(request: pytest.FixtureRequest, folder: Path, multi_vector: Path) -> AsyncIterator[Reranker]:
    local = {
        "cross-encoder": RerankerSettings(kind="cross-encoder", model=str(folder)),
        "colbert": RerankerSettings(kind="colbert", model=str(multi_vector)),
    }.get(request.param)
    with RerankServer(api_key=KEY, product="jina" if local else request.param) as server:
        endpoint = RerankerSettings(kind="http", url=server.address, model="twin", api_key=SecretStr(KEY))
        reranker = make_reranker(local or endpoint)
        assert reranker is not None
        yield reranker
        await reranker.close()


async def test_scores_are_in_the_order_of_the_texts(reranker: Reranker) -> None:
    scores = await reranker.rank(QUESTION, TEXTS)
    assert len(scores) == len(TEXTS)
    assert len(set(scores)) == len(TEXTS)
    assert await reranker.rank(QUESTION, TEXTS[::-1]) == pytest.approx(scores[::-1], rel=1e-4)
    assert await reranker.rank(QUESTION, TEXTS[1:2]) == pytest.approx(scores[1:2], rel=1e-4)


async def test_empty_in_empty_out(reranker: Reranker) -> None:
    assert await reranker.rank(QUESTION, []) == []


async def test_questions_may_come_at_once(reranker: Reranker) -> None:
    ranked = await asyncio.gather(*(reranker.rank(QUESTION, TEXTS) for _ in range(4)))
    assert all(scores == pytest.approx(ranked[0]) for scores in ranked)


@pytest.mark.parametrize("kind", ["cross-encoder", "colbert"])
async def test_a_long_text_is_read_as_far_as_the_model_reads(
    kind: Literal["cross-encoder", "colbert"], folder: Path, multi_vector: Path
) -> None:
    model = folder if kind == "cross-encoder" else multi_vector
    reranker = make_reranker(RerankerSettings(kind=kind, model=str(model)))
    assert reranker is not None
    assert len(await reranker.rank(QUESTION, ["word " * 2000, "short"])) == 2
    await reranker.close()


@pytest.mark.parametrize("make", [make_multi_vector, make_stanford])
async def test_late_interaction_sums_the_best_cosine_of_each_token_of_the_question(
    make: Callable[[Path], Path], tmp_path: Path
) -> None:
    from sentence_transformers import MultiVectorEncoder

    model = str(make(tmp_path))
    reranker, encoder = ColBertReranker(model=model), MultiVectorEncoder(model)
    asked = encoder.encode_query(QUESTION, convert_to_numpy=True)
    expected = []
    for text in TEXTS:
        told = encoder.encode_document(text, convert_to_numpy=True)
        cosines = asked @ told.T / np.outer(np.linalg.norm(asked, axis=1), np.linalg.norm(told, axis=1))
        expected.append(cosines.max(axis=1).sum())
    assert await reranker.rank(QUESTION, TEXTS) == pytest.approx(expected, rel=1e-4)
    await reranker.close()


async def test_the_form_of_colbertv2_is_read_with_its_lengths_and_marks(tmp_path: Path) -> None:
    """A question is filled up with masks to its length, as published."""
    reranker = ColBertReranker(model=str(make_stanford(tmp_path)))
    longer, shorter = "word " * 300, "word " * 100
    assert await reranker.rank(QUESTION, [longer]) == pytest.approx(await reranker.rank(QUESTION, [shorter]), rel=1e-4)
    encoder = reranker._encoder
    assert len(encoder.encode_query("short")) == 40
    assert encoder.prompts["query"].strip() == "[unused0]"
    await reranker.close()


async def test_a_model_without_a_projection_of_tokens_is_none_of_colbert(tmp_path: Path) -> None:
    reranker = ColBertReranker(model=str(make_encoder(tmp_path)))
    with pytest.raises(ModelFailed, match="was not trained for late interaction"):
        await reranker.rank(QUESTION, TEXTS)
    await reranker.close()


@pytest.mark.parametrize("make", [make_encoder, make_multi_vector, make_stanford])
async def test_a_model_that_gives_vectors_is_no_cross_encoder(make: Callable[[Path], Path], tmp_path: Path) -> None:
    """Its scores would be those of a random layer."""
    reranker = CrossEncoderReranker(model=str(make(tmp_path)))
    with pytest.raises(ModelFailed, match=r"not trained to give a score for a pair .* or HOPWEAVE_RERANKER__KIND to"):
        await reranker.rank(QUESTION, TEXTS)
    await reranker.close()


async def test_a_saved_cross_encoder_is_one(folder: Path, tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder

    CrossEncoder(str(folder)).save_pretrained(str(tmp_path / "saved"))
    reranker = CrossEncoderReranker(model=str(tmp_path / "saved"))
    assert len(await reranker.rank(QUESTION, TEXTS)) == len(TEXTS)
    await reranker.close()


async def test_a_model_with_two_values_a_pair_is_no_reranker(tmp_path: Path) -> None:
    reranker = CrossEncoderReranker(model=str(make_cross_encoder(tmp_path, labels=2)))
    with pytest.raises(ModelFailed, match="no reranker: it gives 2 values"):
        await reranker.rank(QUESTION, TEXTS)
    await reranker.close()


async def test_a_folder_without_a_model_and_an_unknown_name_say_so(tmp_path: Path) -> None:
    for kind, model in product((CrossEncoderReranker, ColBertReranker), (str(tmp_path), "nobody/has-this-model")):
        reranker = kind(model=model)
        with pytest.raises(ModelFailed, match=r"cannot be loaded.*HOPWEAVE_RERANKER__MODEL"):
            await reranker.rank(QUESTION, TEXTS)
        await reranker.close()


def _cut_weights(folder: Path) -> None:
    """As a download that was interrupted."""
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:1000])


def _change_sizes(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "hidden_size": 64}))


def _spoil_modules(folder: Path) -> None:
    (folder / "modules.json").write_text('[{"idx": 0, "name": "0", "path": ""}]')


@pytest.mark.parametrize(
    ("kind", "damage"),
    [*product(("cross-encoder", "colbert"), (_cut_weights, _change_sizes)), ("colbert", _spoil_modules)],
)
async def test_a_damaged_model_is_named(
    kind: Literal["cross-encoder", "colbert"],
    damage: Callable[[Path], None],
    folder: Path,
    multi_vector: Path,
    tmp_path: Path,
) -> None:
    model = shutil.copytree(folder if kind == "cross-encoder" else multi_vector, tmp_path / "model")
    damage(model)
    reranker = make_reranker(RerankerSettings(kind=kind, model=str(model)))
    assert reranker is not None
    with pytest.raises(ModelFailed, match=r"the reranker '.*model' cannot be loaded: .*HOPWEAVE_RERANKER__MODEL"):
        await reranker.rank(QUESTION, TEXTS)
    await reranker.close()


def test_settings_that_lack_something_name_it() -> None:
    assert make_reranker(RerankerSettings()) is None
    with pytest.raises(InvalidSettings, match="HOPWEAVE_RERANKER__MODEL"):
        make_reranker(RerankerSettings(kind="cross-encoder"))
    with pytest.raises(InvalidSettings, match=r"'colbert' needs a model: .* such as colbert-ir/colbertv2.0"):
        make_reranker(RerankerSettings(kind="colbert"))
    with pytest.raises(InvalidSettings, match=r"'\./missing' is not a folder"):
        make_reranker(RerankerSettings(kind="cross-encoder", model="./missing"))
    with pytest.raises(InvalidSettings, match="HOPWEAVE_RERANKER__URL"):
        make_reranker(RerankerSettings(kind="http"))
    for url in ("rerank.example", "ftp://rerank.example", "http://host:port"):
        with pytest.raises(ValidationError, match="an address with http://"):
            RerankerSettings(kind="http", url=url)


# --- the endpoint


@pytest.fixture
async def http(server: RerankServer) -> AsyncIterator[HttpReranker]:
    reranker = HttpReranker(url=server.address, model="twin", api_key=SecretStr(KEY))
    yield reranker
    await reranker.close()


async def test_what_is_sent(http: HttpReranker, server: RerankServer) -> None:
    await http.rank(QUESTION, TEXTS)
    [request] = server.requests
    assert request.key == KEY
    assert request.body == {
        "model": "twin",
        "query": QUESTION,
        "documents": TEXTS,
        "top_n": len(TEXTS),
        "return_documents": False,
    }


def results(*rows: tuple[object, object]) -> Reply:
    return Reply(body={"results": [{"index": index, "relevance_score": score} for index, score in rows]})


@pytest.mark.parametrize(
    ("reply", "kind", "says"),
    [
        (Reply(status=503, body="loading"), Unavailable, "answered 503: loading"),
        (Reply(status=401, body=f"bad key {KEY}"), ModelFailed, r"answered 401: bad key \*\*\*"),
        (
            Reply(status=404, body={"detail": "no such model"}),
            ModelFailed,
            "no such model.*check HOPWEAVE_RERANKER__URL",
        ),
        (results((0, "x" * 100_000), (1, 0.4)), ModelFailed, r"'x+\.\.\.x+', which is no score"),
        (Reply(body="<html>"), ModelFailed, "no JSON: <html>; check HOPWEAVE_RERANKER__URL"),
        (Reply(body=[]), ModelFailed, "without a list of results: check HOPWEAVE_RERANKER__URL"),
        (Reply(body={"results": [1, 2]}), ModelFailed, "without a list of results"),
        (results((0, 0.5)), ModelFailed, "not with one for each of 2"),
        (results((0, 0.5), (0, 0.4)), ModelFailed, "not with one for each of 2"),
        (results((0, 0.5), (2, 0.4)), ModelFailed, "not with one for each of 2"),
        (results(([], 0.5), (1, 0.4)), ModelFailed, "not with one for each of 2"),
        (results((0, float("nan")), (1, 0.4)), ModelFailed, "nan, which is no score"),
        (results((0, None), (1, 0.4)), ModelFailed, "None, which is no score"),
        (results((0, 10**400), (1, 0.4)), ModelFailed, "which is no score"),
    ],
)
async def test_what_goes_wrong_names_the_endpoint_and_never_the_key(
    http: HttpReranker, server: RerankServer, reply: Reply, kind: type[HopweaveError], says: str
) -> None:
    server.script.append(reply)
    with pytest.raises(kind, match=says) as caught:
        await http.rank(QUESTION, TEXTS[:2])
    assert f"the reranker twin at {server.address}" in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(await http.rank(QUESTION, TEXTS[:2])) == 2, "the next question is answered"


async def test_an_endpoint_that_is_slow_is_unavailable(server: RerankServer) -> None:
    reranker = HttpReranker(url=server.address, timeout=0.2)
    server.script.append(Reply(stall=True))
    with pytest.raises(Unavailable, match=r"within 0\.2 seconds"):
        await reranker.rank(QUESTION, TEXTS)
    await reranker.close()


async def test_an_endpoint_that_is_down_is_unavailable() -> None:
    with RerankServer() as server:
        reranker = HttpReranker(url=server.address)
    with pytest.raises(Unavailable, match="cannot be reached"):
        await reranker.rank(QUESTION, TEXTS)
    await reranker.close()


async def test_an_endpoint_that_repeats_the_passages_does_not_bring_them_into_the_error(
    http: HttpReranker, server: RerankServer
) -> None:
    passage = "the launch code of the silo in Reykjavík is 4711, and nobody knows"
    server.script.append(Reply(status=422, body={"detail": [{"loc": ["body"], "input": {"documents": [passage]}}]}))
    with pytest.raises(ModelFailed, match="answered 422: nothing") as caught:
        await http.rank("Which code?", [passage])
    assert "4711" not in str(caught.value)


async def test_the_api_of_the_endpoint_is_found_out_once() -> None:
    with RerankServer(product="tei") as server:
        reranker = HttpReranker(url=server.address)
        assert await reranker.rank(QUESTION, TEXTS) == await reranker.rank(QUESTION, TEXTS)
        assert ["texts" in request.body for request in server.requests] == [False, True, True]
        assert server.requests[1].body == {"query": QUESTION, "texts": TEXTS, "truncate": True}
        await reranker.close()


async def test_the_api_of_the_settings_is_not_tried_otherwise(server: RerankServer) -> None:
    for api, sent in (("tei", "texts"), ("cohere", "documents")):
        settings = RerankerSettings.model_validate({"kind": "http", "url": server.address, "api": api})
        reranker = make_reranker(settings)
        assert reranker is not None
        server.script.append(Reply(status=422, body="missing field `texts`"))
        with pytest.raises(ModelFailed, match="missing field `texts`"):
            await reranker.rank(QUESTION, TEXTS)
        assert sent in server.requests.pop().body
        assert not server.requests
        await reranker.close()


async def test_more_texts_than_the_endpoint_takes_go_in_several_calls() -> None:
    texts = [f"Hello Love number {number}" for number in range(70)]
    with RerankServer(product="tei") as server:
        reranker = HttpReranker(url=server.address, api="tei")
        scores = await reranker.rank(QUESTION, texts)
        assert [len(request.body["texts"]) for request in server.requests] == [70, 32, 32, 6]
        assert scores[65:67] == pytest.approx(await reranker.rank(QUESTION, texts[65:67]))
        server.requests.clear()
        assert await reranker.rank(QUESTION, texts) == scores
        assert [len(request.body["texts"]) for request in server.requests] == [32, 32, 6]
        await reranker.close()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ([{"index": 0, "score": 0.5}], "1 results, not with one for each of 2"),
        ([{"index": 0, "score": 0.5}, {"index": 0, "score": 0.4}], "not with one for each of 2"),
        ([{"index": 0, "score": 0.5}, {"index": 1}], "None, which is no score"),
        ([1, 2], "without a list of results"),
        ("0.5", "without a list of results"),
    ],
)
async def test_answers_of_no_use_in_the_other_api(body: object, says: str) -> None:
    with RerankServer(product="tei") as server:
        reranker = HttpReranker(url=server.address, api="tei")
        server.script.append(Reply(body=body))
        with pytest.raises(ModelFailed, match=says):
            await reranker.rank(QUESTION, TEXTS[:2])
        await reranker.close()
