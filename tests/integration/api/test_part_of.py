"""What a passage is part of, in hits, citations, lists of sources and stored answers."""

import base64
import json

import pytest

from tests.documents import make_long_pdf
from tests.integration.api.conftest import Server
from tests.integration.api.stored_questions import Json, wait

MAIL = """From: Pieter van Dalen <pieter@example.org>
Subject: {subject}
Date: Thu, 03 Apr 2025 10:00:00 +0200
Content-Type: text/plain; charset=utf-8

The pump contract was signed by me in Rotterdam.
"""
PATH = "/v1/corpora/people"
RATES = "# Master agreement\n\n## Fees\n\n| Name | Hourly rate |\n|---|---|\n| Tomas Okeke | 345 |\n| Bo Lind | 290 |\n"
QUESTION = "Who signed the pump contract in Rotterdam?"
QUOTING = "extractive:min_probability=0,sentences=1"


def make_file(key: str, text: str, media_type: str) -> Json:
    return {"key": key, "content": base64.b64encode(text.encode()).decode(), "media_type": media_type}


@pytest.fixture
async def letters(server: Server) -> Server:
    await server.corpus()
    await server.ingest(
        make_file("7.eml", MAIL.format(subject="Side letter"), "message/rfc822"),
        make_file("msa.md", RATES, "text/markdown"),
    )
    return server


async def search(server: Server, query: str) -> Json:
    answer = await server.client.post(f"{PATH}/search", json={"query": query, "searcher": "sparse"})
    assert answer.status_code == 200, answer.text
    hit: Json = answer.json()["hits"][0]
    return hit


async def test_hits_have_sender_and_date_or_the_header_of_their_row(letters: Server) -> None:
    hit = await search(letters, QUESTION)
    assert (hit["document"]["title"], hit["part_of"]) == ("Side letter", "from Pieter van Dalen · 2025-04-03")
    hit = await search(letters, "Okeke")
    assert hit["snippet"]["text"] == "| Tomas Okeke | 345 |"
    assert hit["part_of"] == "Fees · columns: Name | Hourly rate"


async def test_a_citation_names_the_cell_of_a_table(letters: Server) -> None:
    body = {"question": "What is the hourly rate of Tomas Okeke?", "reasoner": QUOTING}
    asked = await letters.client.post(f"{PATH}/ask", json=body)
    assert asked.status_code == 200, asked.text
    [citation, *_] = asked.json()["citations"]
    assert citation["quote"] == "| Tomas Okeke | 345 |"
    start = RATES.index("345") - RATES.index("| Name")
    cell = {"row": "Tomas Okeke", "column": "Hourly rate", "value": "345", "page": None}
    assert citation["cell"] == {**cell, "span": {"start": start, "end": start + 3}}

    made = await letters.client.post(f"{PATH}/questions", json=body)
    shown = await wait(letters, made.json()["id"])
    assert shown["answer"]["citations"][0]["cell"] == citation["cell"]
    corpus = await letters.container.record.corpora.get("people")
    stored = await letters.container.record.questions.get(corpus.id, made.json()["id"])
    assert "Okeke" not in json.dumps(stored.answer["citations"])
    await letters.app.state.questions.close()


def make_rows(count: int) -> str:
    row = "| Outlay number {} for the repair of quays | {},500 | {},700 |\n"
    return "".join(row.format(n, 1000 + n, 2000 + n) for n in range(count))


LEDGER = f"# Ledger\n\n| Account | 2023 | 2022 |\n|---|---|---|\n{make_rows(40)}"
COLUMNS = "Account | 2023 | 2022"


async def test_a_passage_within_a_table_of_years_has_its_columns(server: Server) -> None:
    """Headers with years are in no stored heading, and are read from the passages before."""
    await server.corpus()
    await server.ingest(make_file("ledger.md", LEDGER, "text/markdown"))
    hit = await search(server, "outlay number 37")
    start = hit["chunk"]["text"].index("Outlay number 37 ")
    assert start > 0
    assert "Account" not in hit["chunk"]["text"]
    assert hit["chunk"]["heading"] == COLUMNS
    assert hit["part_of"] == f"columns: {COLUMNS}"
    chunk = await server.client.get(f"{PATH}/documents/{hit['document']['id']}/chunks")
    assert {chunk["heading"] for chunk in chunk.json()["data"]} == {""}

    body = {"question": "What was outlay number 37 in 2022?", "reasoner": QUOTING}
    asked = await server.client.post(f"{PATH}/ask", json=body)
    [citation, *_] = asked.json()["citations"]
    assert citation["cell"]["value"] == "2037,700"
    assert citation["part_of"] == f"columns: {COLUMNS}"
    made = await server.client.post(f"{PATH}/questions", json=body)
    shown = await wait(server, made.json()["id"])
    assert shown["answer"]["citations"][0]["part_of"] == citation["part_of"]
    assert shown["answer"]["steps"][0]["hits"][0]["chunk"] == asked.json()["steps"][0]["hits"][0]["chunk"]
    await server.app.state.questions.close()


async def test_a_header_far_above_is_not_looked_for(server: Server) -> None:
    table = f"| Account | 2023 | 2022 |\n|---|---|---|\n{make_rows(120)}"
    await server.corpus()
    await server.ingest(make_file("ledger.md", table, "text/markdown"))
    near, far = await search(server, "outlay number 37"), await search(server, "outlay number 117")
    assert near["chunk"]["position"] <= 24 < far["chunk"]["position"]
    assert (near["chunk"]["heading"], far["chunk"]["heading"]) == (COLUMNS, "")


async def test_citations_and_sources_have_it_and_stored_answers_do_not_keep_it(letters: Server) -> None:
    body = {"question": QUESTION, "reasoner": QUOTING}
    asked = await letters.client.post(f"{PATH}/ask", json=body)
    assert asked.status_code == 200, asked.text
    [citation, *_] = asked.json()["citations"]
    assert (citation["document"]["title"], citation["part_of"]) == ("Side letter", "from Pieter van Dalen · 2025-04-03")
    assert asked.json()["steps"][0]["hits"][0]["part_of"] == citation["part_of"]

    made = await letters.client.post(f"{PATH}/questions", json=body)
    shown = await wait(letters, made.json()["id"])
    assert shown["answer"]["citations"][0]["part_of"] == citation["part_of"]
    assert shown["answer"]["steps"][0]["hits"][0]["part_of"] == citation["part_of"]
    corpus = await letters.container.record.corpora.get("people")
    stored = await letters.container.record.questions.get(corpus.id, made.json()["id"])
    assert citation["part_of"] not in json.dumps(stored.answer, ensure_ascii=False)


async def test_hits_citations_and_pages_have_the_label_of_the_page(server: Server) -> None:
    await server.corpus()
    pages = [[f"Preface {n} thanks the printers."] for n in range(4)]
    pages += [["Pieter van Dalen signed the pump contract in Rotterdam."]]
    content = base64.b64encode(make_long_pdf(pages, b"0<</S/r>>4<</S/D/P(F-)/St 3>>")).decode()
    await server.ingest({"key": "report.pdf", "content": content, "media_type": "application/pdf"})
    hit = await search(server, QUESTION)
    assert (hit["chunk"]["page"], hit["page_label"]) == (5, "F-3")
    page = await server.client.get(f"{PATH}/documents/{hit['document']['id']}/pages/2")
    assert page.json()["page_label"] == "ii"

    body = {"question": QUESTION, "reasoner": QUOTING}
    asked = await server.client.post(f"{PATH}/ask", json=body)
    [citation, *_] = asked.json()["citations"]
    assert (citation["page"], citation["page_label"]) == (5, "F-3")
    made = await server.client.post(f"{PATH}/questions", json=body)
    shown = await wait(server, made.json()["id"])
    assert shown["answer"]["citations"][0]["page_label"] == "F-3"
    assert shown["answer"]["steps"][0]["hits"][0]["page_label"] == "F-3"
    corpus = await server.container.record.corpora.get("people")
    stored = await server.container.record.questions.get(corpus.id, made.json()["id"])
    assert "F-3" not in json.dumps(stored.answer)
    await server.app.state.questions.close()
