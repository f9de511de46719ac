"""What `extractive` quotes from a real corpus, with the built-in embedding model and without vectors.

A person's folder: a contract with a table, mails, an award, a lease.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.container import Container
from app.services import corpora, ingestion
from app.services.questions import AskRequest, ask
from core.corpora import NO_EMBEDDING, Corpus
from core.documents import OnConflict
from core.ports.reasoning import Answer, Support, Unsupported
from core.settings import read_settings
from core.strategies import parse_spec
from core.trace import Trace
from indexer import Worker, WorkerOptions, read_paths
from reasoning.strategies.extractive.quoting import reading
from reasoning.strategies.extractive.quoting.evidence import Decision, decide

Ask = Callable[..., Answer]

_OPTIONS = WorkerOptions(lease_seconds=60, renew_seconds=15, batch_bytes=256_000, task_seconds=60, retry_seconds=0)
_MAIL = (
    "From: {sender}\nSubject: {subject}\nDate: Thu, 03 Apr 2025 10:00:00 +0200\nContent-Type: text/plain\n\n{text}\n"
)
_FILES = {
    "msa.md": "# Master services agreement\n\n## Fees\n\nThe client pays for hours of work at these rates.\n\n"
    "| Name | Hourly rate |\n|---|---|\n| Tomas Okeke | 345 |\n| Bo Lind | 290 |\n| Ada Moe | 310 |\n\n"
    "## Term\n\nThe agreement begins on 1 March 2025. It ends after two years.\n",
    "offer.txt": "Offer for the survey of the harbour wall\n\nOur fee is approx. EUR 4,500 net. "
    "Travel is charged extra. The survey takes three weeks.\n",
    "ask.eml": _MAIL.format(
        sender="Mira Sand <mira@example.org>",
        subject="Question",
        text="Who signed the side letter? I could not find it in the file. Please call me.",
    ),
    "answer.eml": _MAIL.format(
        sender="Jon Vale <jon@example.org>",
        subject="Side letter",
        text="It was signed by Pieter van Dalen. I have put the scan into the file.",
    ),
    "award.txt": "In the matter of an arbitration between Orrin Ltd and Vell GmbH.\n\nThe sole arbitrator is Dr. Ines "
    "Hall. The seat of the arbitration is Geneva. The language is English.\n",
    "employment.txt": "Contract of employment\n\nThis contract is made between Halden Mills, Kiel (the “Employer”), "
    "and Mr Tor Vik, of Bergen (the “Employee”).\n\n# Work\n\nThe Employee enters service in May as a planner.\n\n"
    "# Other work\n\nThe Employee may take a second job only with the consent of the Employer.\n",
    "lease.txt": "Lease of the workshop\n\nThe tenant pays 1,200 EUR per month. The deposit is three rents. "
    "The landlord repairs the roof. Pets are permitted.\n",
}


async def _open(folder: Path, embedding: str | None) -> tuple[Container, Corpus]:
    """Returns an open container with the corpus of the files, which a worker in this process has indexed."""
    container = Container(read_settings(data_dir=folder / "data"))
    corpus = await corpora.ensure(container, "files", embedding=embedding)
    async with aclosing(
        ingestion.submit_all(container, corpus, read_paths([folder / "files"], with_given=False), OnConflict.REPLACE)
    ) as parts:
        jobs = [part.job.id async for part in parts]
    await Worker("here", container.indexing, _OPTIONS).work(corpus.id)
    assert (await container.record.jobs.get(jobs[-1])).state.final
    return container, corpus


@pytest.fixture(params=[None, NO_EMBEDDING], ids=["built-in model", "no vectors"], scope="module")
def quoting(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Indexed once for all tests, which only ask."""
    folder = tmp_path_factory.mktemp("quoting")
    (folder / "files").mkdir()
    for name, text in _FILES.items():
        (folder / "files" / name).write_text(text, encoding="utf-8")
    with asyncio.Runner() as runner:
        container, corpus = runner.run(_open(folder, request.param))

        def quote(question: str, reasoner: str = "extractive", unsupported: Unsupported | None = None) -> Answer:
            asked = AskRequest(question=question, reasoner=parse_spec(reasoner), unsupported=unsupported)
            return runner.run(ask(container, corpus, asked, Trace()))

        yield quote
        runner.run(container.close())


def test_what_the_folder_answers_is_quoted(quoting: Ask) -> None:
    for question, quote in {
        "What is the hourly rate of Tomas Okeke?": "| Tomas Okeke | 345 |",
        "What is the fee for the survey of the harbour wall?": "Our fee is approx. EUR 4,500 net.",
        "Who is the sole arbitrator?": "The sole arbitrator is Dr. Ines Hall.",
        "Who signed the side letter?": "It was signed by Pieter van Dalen.",
        "What is the seat of the arbitration?": "The seat of the arbitration is Geneva.",
        "How long does the survey of the harbour wall take?": "The survey takes three weeks.",
    }.items():
        answer = quoting(question)
        assert not answer.abstained, question
        assert answer.support is Support.QUOTED
        assert quote in [citation.quote for citation in answer.citations], question
        for one in answer.citations:
            written = answer.text[one.answer_span.start : one.answer_span.end]
            assert written == one.quote or one.cell is not None, question
        assert not any(one.quote.endswith("?") for one in answer.citations)


def test_a_party_is_called_as_its_contract_calls_it(quoting: Ask) -> None:
    answer = quoting("Can Mr Vik take a second job?")
    assert answer.citations[0].quote == "The Employee may take a second job only with the consent of the Employer."
    assert answer.steps[0].question == "Consider Contract of employment of Vik; can the Employee take a second job?"


def test_a_row_is_cited_with_its_header(quoting: Ask) -> None:
    answer = quoting("What is the hourly rate of Tomas Okeke?")
    [row] = [one for one in answer.citations if "Okeke" in one.quote]
    assert row.part_of == "Fees · columns: Name | Hourly rate"
    assert "| Name | Hourly rate |" not in [one.quote for one in answer.citations]


def test_what_the_folder_does_not_answer_is_declined(quoting: Ask) -> None:
    for question in (
        "Which vaccines are recommended for a trip to Kenya?",
        "How do I configure the serial port of the router?",
        "Who won the football championship in 1987?",
    ):
        answer = quoting(question)
        assert (answer.abstained, answer.support) == (True, Support.NONE), question
        assert answer.steps[0].answer == ""


def test_a_number_that_the_quotes_lack_is_doubtful(quoting: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """However probable the words make it: what is said of bit 3 is not said of bit 9."""

    def decide_surely(features: Any, **given: Any) -> Decision:
        return replace(decide(features, **given), answerable=0.95, right=0.95)

    monkeypatch.setattr(reading, "decide", decide_surely)
    note = quoting("Who is the sole arbitrator of case 77?").note
    assert "is 50 %; they lack “case”, “77”." in note
    assert "It is unsure" not in quoting("Who is the sole arbitrator?").note


def test_sure_answers_have_no_note_of_doubt(quoting: Ask) -> None:
    answer = quoting("Who is the sole arbitrator?")
    assert answer.note == "Extractive: this answer only quotes its sources; no language model wrote it."


def test_each_side_of_a_comparison_is_quoted(quoting: Ask) -> None:
    answer = quoting("Compare the hourly rates of Tomas Okeke and Bo Lind")
    assert answer.text.startswith(
        "Tomas Okeke: Tomas Okeke, Hourly rate: 345 [1]\n\nBo Lind: Bo Lind, Hourly rate: 290 [1]"
    )
    assert [step.question for step in answer.steps] == [
        "What is the hourly rates of Tomas Okeke",
        "What is the hourly rates of Bo Lind",
    ]
    assert [step.answer for step in answer.steps] == ["Tomas Okeke, Hourly rate: 345", "Bo Lind, Hourly rate: 290"]


def test_a_side_that_is_not_found_is_named(quoting: Ask) -> None:
    answer = quoting("What are the hourly rates of Tomas Okeke, Bo Lind and Wanda Quist?")
    assert answer.text.endswith("Wanda Quist: no passage was found that answers this.")
    assert len(answer.citations) == 2


def test_what_only_one_side_has_is_answered_as_a_whole(quoting: Ask) -> None:
    answer = quoting("What is the hourly rate of Tomas Okeke or Wanda Quist?")
    assert [step.question for step in answer.steps] == ["What is the hourly rate of Tomas Okeke or Wanda Quist?"]
