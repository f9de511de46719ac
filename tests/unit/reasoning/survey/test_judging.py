"""What a passage says of the condition of a survey."""

import pytest

from core.documents import Chunk
from reasoning.strategies.survey.judging import Finding, Verdict, judge_passages
from reasoning.strategies.survey.plan import read_plan

YES, NO, OPPOSITE, UNDECIDED = Verdict.YES, Verdict.NO, Verdict.OPPOSITE, Verdict.UNDECIDED


def judge(question: str, *texts: str, heading: str = "", title: str = "A") -> Finding:
    chunks = [
        Chunk(
            id=f"c{n}", document_id="d", view_id=f"v{n}", position=n, text=text, heading=heading, page=None, span=None
        )
        for n, text in enumerate(texts)
    ]
    return judge_passages(read_plan(question), title, chunks)


@pytest.mark.parametrize(
    ("question", "text", "verdict"),
    [
        ("Which contracts are governed by Delaware law?", "It is governed by the laws of Delaware.", YES),
        ("Which contracts are governed by Delaware law?", "It is not governed by the law of Delaware.", OPPOSITE),
        ("Which contracts are governed by Delaware law?", "It is governed by Texas law. Delaware is far.", UNDECIDED),
        ("Which contracts are governed by Delaware law?", "Is it governed by the law of Delaware?", UNDECIDED),
        ("Which may be assigned without consent?", "It may be assigned without consent.", YES),
        ("Which may be assigned without consent?", "Neither party may assign it without consent.", OPPOSITE),
        ("Which may not be assigned without consent?", "No party may assign it without its consent.", YES),
        ("Which reports mention a failure of pumps?", "The pump did not fail.", YES),
        ("Which incidents had a failure of a pump?", "The pump P-7 failed at noon.", YES),
        ("Which policies do not sell data?", "We share data; we do not sell data.", YES),
        ("Which invoices exceed 10,000 EUR?", "The total is 12,500.00 EUR.", YES),
        ("Which invoices exceed 10,000 EUR?", "The total is 9,999 EUR.", OPPOSITE),
        ("Which invoices exceed 10,000 EUR?", "Of 12,000 EUR 500 EUR were paid.", UNDECIDED),
        ("Which contracts run for at least three years?", "It runs for five (5) years.", YES),
        ("Which contracts run for at least three years?", "It runs for 2 years.", OPPOSITE),
        ("Which contracts run for five years?", "It runs for five (5) years.", YES),
        ("Which contracts run for five years?", "Article 5 runs for two years.", UNDECIDED),
        ("Which contracts are with Halden Works?", "Signed by Halden Works in May.", YES),
        ("Which contracts are with Halden Works?", "The works were in Halden.", UNDECIDED),
        ("Which reports mention V-3?", "Valve V-3 is old.", YES),
        ("Which reports mention V-3?", "Valve V-33 is old.", UNDECIDED),
        ("Which invoices exceed 10,000?", "Invoice 12345 is of May.", UNDECIDED),
        ('Which say "best efforts"?', "They use best efforts.", YES),
        ('Which say "best efforts"?', "Efforts that are best.", UNDECIDED),
    ],
)
def test_verdicts(question: str, text: str, verdict: Verdict) -> None:
    assert judge(question, text).verdict is verdict


def test_headings_columns_and_titles_count_with_a_sentence() -> None:
    question = "Which contracts have Delaware as their governing law?"
    assert judge(question, "The law of Delaware applies.", heading="Governing law").verdict is YES
    assert judge(question, "GOVERNING LAW\nThe law of Delaware applies.").verdict is YES
    table = "| Country | Failures of pumps |\n|---|---|\n| Japan | 7 |\n| Peru | 0 |"
    found = judge("Which reports list failures of pumps in Japan?", table)
    assert (found.verdict, found.quote) == (YES, "| Japan | 7 |")


def test_words_far_apart_in_a_long_sentence_are_undecided() -> None:
    between = " ".join(f"clause{n}" for n in range(60))
    assert judge("Which are governed by Delaware law?", f"Governed {between} law of Delaware.").verdict is UNDECIDED


def test_the_passage_that_affirms_counts_and_a_denial_is_told() -> None:
    found = judge("Which use cookies?", "You may not use cookies.", "We use cookies.")
    assert (found.verdict, found.is_disputed, found.quote) == (YES, True, "We use cookies.")


def test_quotes_are_verbatim() -> None:
    text = "First.  The pump failed.\nLast."
    found = judge("Which incidents had a pump that failed?", text)
    assert text[found.span.start : found.span.end] == found.quote == "The pump failed."


def test_no_sentence_with_all_words_gives_the_nearest() -> None:
    found = judge("Which incidents had a pump that failed?", "A pump. Nothing else.", "It failed.")
    assert found.verdict is UNDECIDED


def test_a_document_that_was_read_whole_and_lacks_a_literal_phrase_does_not_match() -> None:
    plan = read_plan("Which reports mention valve V-3?")
    chunk = Chunk(id="c", document_id="d", view_id="v", position=0, text="Valve V-4.", heading="", page=None, span=None)
    assert judge_passages(plan, "A", [chunk]).verdict is UNDECIDED
    assert judge_passages(plan, "A", [chunk], is_whole=True).verdict is NO
    assert judge_passages(plan, "Valve V-3", [chunk], is_whole=True).verdict is UNDECIDED
