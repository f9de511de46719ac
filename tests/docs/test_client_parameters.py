"""The tables of parameters in `docs/clients` against the bodies that the routes take."""

import re

import pytest
from pydantic import BaseModel

from api.protocols.conversation import list_treatments
from api.protocols.ollama import OllamaChatIn
from api.protocols.openai.chat import ChatIn
from api.protocols.openai.models import EmbeddingsIn
from api.protocols.openai.responses import ResponseIn
from tests.docs.pages import DOCS, table_rows


@pytest.mark.parametrize(
    ("page", "heading", "body"),
    [
        ("openai", "`POST /v1/chat/completions`:", ChatIn),
        ("openai", "`POST /v1/responses`:", ResponseIn),
        ("openai", "`POST /v1/embeddings`:", EmbeddingsIn),
        ("ollama", "# Ollama", OllamaChatIn),
    ],
)
def test_each_parameter_is_treated_as_its_page_says(page: str, heading: str, body: type[BaseModel]) -> None:
    text = (DOCS / "clients" / f"{page}.md").read_text("utf-8").partition(heading)[2].partition("\n`POST ")[0]
    said = {
        name: treatment
        for names, treatment, *_ in table_rows(text, "parameter", "treatment")
        for name in re.findall(r"`(\w+)`", names)
    }
    assert said == list_treatments(body)
