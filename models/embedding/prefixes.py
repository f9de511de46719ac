"""The prefixes that well-known embedding models were trained with, by the name of the model or by its folder.

A model that was trained with prefixes finds less without them. Sources: the models' cards.
"""

import re
from pathlib import Path
from typing import Any

from core.ports.embedding_form import PLAIN, EmbeddingForm
from models.embedding.weights import read_json

__all__ = ["complete_form", "name_form", "read_folder_form", "usual_form"]

_RETRIEVE = "Given a web search query, retrieve relevant passages that answer the query"
_INSTRUCTED = EmbeddingForm(query=f"Instruct: {_RETRIEVE}\nQuery: ", passage="")
_QWEN3 = EmbeddingForm(query=f"Instruct: {_RETRIEVE}\nQuery:", passage="")
_REPRESENT = EmbeddingForm(query="Represent this sentence for searching relevant passages: ", passage="")
_E5 = EmbeddingForm(query="query: ", passage="passage: ")
_QUERY_ONLY = EmbeddingForm(query="query: ", passage="")

_KNOWN = (
    (re.compile(r"\be5-.{0,40}instruct"), _INSTRUCTED),
    (re.compile(r"\be5-(small|base|large)"), _E5),
    (re.compile(r"nomic-embed-text"), EmbeddingForm(query="search_query: ", passage="search_document: ")),
    (
        re.compile(r"\bbge-(small|base|large)-zh"),
        EmbeddingForm(query="为这个句子生成表示以用于检索相关文章：", passage=""),
    ),
    (re.compile(r"\bbge-(small|base|large)"), _REPRESENT),
    (re.compile(r"mxbai-embed-de-large"), _E5),
    (re.compile(r"mxbai-embed"), _REPRESENT),
    (re.compile(r"arctic-embed2|arctic-embed-[ml]-v2"), _QUERY_ONLY),
    (re.compile(r"arctic-embed"), _REPRESENT),
    (re.compile(r"qwen3-embedding"), _QWEN3),
    (re.compile(r"\bgte-qwen2?"), _INSTRUCTED),
    (
        re.compile(r"embedding-?gemma"),
        EmbeddingForm(query="task: search result | query: ", passage="title: none | text: "),
    ),
)
"""Patterns in the order in which they are tried. gte, MiniLM, bge-m3 and OpenAI's models have no prefixes."""


def usual_form(model: str) -> EmbeddingForm:
    """Returns the prefixes of a model by its name, in any way of writing it (`nomic-embed-text:v1.5`, `org/name`)."""
    name = model.lower().replace("_", "-")
    return next((form for pattern, form in _KNOWN if pattern.search(name)), PLAIN)


def read_folder_form(folder: Path) -> EmbeddingForm:
    """Returns the prompts that sentence-transformers uses for questions and passages of this folder."""
    config: Any = read_json(folder / "config_sentence_transformers.json")
    stated = config.get("prompts") if isinstance(config, dict) else None
    prompts = {name: text for name, text in stated.items() if text} if isinstance(stated, dict) else {}
    passages = (prompts[name] for name in ("document", "passage", "corpus") if name in prompts)
    return EmbeddingForm(query=prompts.get("query", ""), passage=next(passages, ""))


def complete_form(stated: EmbeddingForm, usual: EmbeddingForm) -> EmbeddingForm:
    """Returns the stated form, with the usual prefixes where it states none."""
    return EmbeddingForm(
        query=usual.query if stated.query is None else stated.query,
        passage=usual.passage if stated.passage is None else stated.passage,
        dimension=stated.dimension,
        dot=stated.dot,
    )


def name_form(form: EmbeddingForm, own: EmbeddingForm = PLAIN) -> str:
    """Returns what the name of a model has for its form, `own` being the prompts of its folder.

    Empty for a form without prefixes, cut and dot product, so that a model that needs none keeps its name. If prompts
    of the folder are left out, the name says so: a name without a form comes from an earlier release, which used them.
    """
    prefixes = form.query or form.passage or own.query or own.passage
    return EmbeddingForm(
        query=form.query if prefixes else None,
        passage=form.passage if prefixes else None,
        dimension=form.dimension,
        dot=form.dot,
    ).suffix
