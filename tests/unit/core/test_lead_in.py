"""The lead-in of a question is told from the question."""

import pytest

from core.text.lead_in import find_naming, find_rest, split_lead_in


@pytest.mark.parametrize(
    ("question", "lead_in", "asked"),
    [
        ("Consider Halden's lease; may the tenant sublet?", "Halden's lease", "may the tenant sublet?"),
        ("Regarding Acme Corp: when was it founded?", "Acme Corp", "when was it founded?"),
        ("According to the lease of Halden, may the tenant sublet?", "the lease of Halden", "may the tenant sublet?"),
        ("I read Keep's policy. Is it free?", "I read Keep's policy", "Is it free?"),
        ("In the film by Corvo, who played Ines?", "the film by Corvo", "who played Ines?"),
        ("According to Alice, who was born in Paris, is Bob dead?", "Alice, who was born in Paris", "is Bob dead?"),
        ("I met Mr. Will Smith. Is he dead?", "I met Mr. Will Smith", "Is he dead?"),
        ("For Whom the Bell Tolls: who wrote it?", "For Whom the Bell Tolls", "who wrote it?"),
        ("Consider the lease; for what reasons may it end?", "the lease", "for what reasons may it end?"),
        ("What does EPL 1.0 say about governing law?", "EPL 1.0", "governing law?"),
        ("Was steht im Mietvertrag zur Kündigung?", "im Mietvertrag", "Kündigung?"),
        ("Que dit le contrat sur la résiliation ?", "le contrat", "la résiliation ?"),
        ("Laut dem Mietvertrag, darf man Hunde halten?", "dem Mietvertrag", "darf man Hunde halten?"),
    ],
)
def test_a_lead_in(question: str, lead_in: str, asked: str) -> None:
    assert split_lead_in(question) == (lead_in, asked)


@pytest.mark.parametrize(
    "question",
    [
        "Who founded Acme Corp? Is it old?",
        "The river that crosses Porto, which is the longest, flows into which sea?",
        "Ines Corvo, who is she?",
        "What does it say?",
        "Mr. Smith. Is he dead?",
        "The books of J. Will and Dr. Who are where?",
        "For Whom the Bell Tolls, who wrote it?",
        "In which year, according to the lease, is it sold?",
        "Which is older: Acme or Corvo?",
        "Consider the lease; " + "it is long, " * 100 + "is it red?",
        "",
    ],
)
def test_no_lead_in(question: str) -> None:
    assert split_lead_in(question) == ("", question)


@pytest.mark.parametrize("question", ["Consider the lease; may the tenant sublet? ", " May the tenant sublet?", ""])
def test_the_rest_is_the_end_of_the_question(question: str) -> None:
    lead_in, rest = split_lead_in(question)
    assert question[find_rest(question) :].rstrip() == rest.rstrip()
    assert (find_rest(question) > 0) == bool(lead_in)


@pytest.mark.parametrize(
    ("question", "named", "rest"),
    [
        ("Consider Halden's lease; may the tenant sublet?", "Halden's lease", "may the tenant sublet?"),
        ("May the tenant sublet under Halden's lease?", "Halden's lease", "May the tenant sublet?"),
        ("Are fees paid under the Acme agreement refundable?", "the Acme agreement", "Are fees paid refundable?"),
        ("Does the Corvo End User License allow copies?", "the Corvo End User License", "Does allow copies?"),
        ("How long may it last according to the bylaws?", "the bylaws", "How long may it last?"),
        ("Welches Recht gilt laut der Kieler Lizenz?", "der Kieler Lizenz", "Welches Recht gilt?"),
        ("Que prévoit la licence Corvo en cas de litige ?", "la licence Corvo", "Que prévoit en cas de litige ?"),
        ("Is overtime paid under Mr Vik's contract?", "Mr Vik's contract", "Is overtime paid?"),
        ("Who signs the NDA between Halden and Storvik?", "the NDA between Halden and Storvik", "Who signs?"),
        ("What does the mutual contract with Norwind cost?", "the mutual contract with Norwind", "What does cost?"),
    ],
)
def test_a_document_is_named_anywhere(question: str, named: str, rest: str) -> None:
    naming = find_naming(question)
    assert naming is not None
    assert (naming.named, naming.rest) == (named, rest)
    assert question[: naming.left_out.start] + question[naming.left_out.stop :] == rest


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference between the Halden licence and the Norwind licence on fees?",
        "What is the difference between the Halden licence and ours?",
        "Does the Halden licence or Norwind allow copies?",
        "Do Norwind and the Halden licence allow copies?",
        "Are fees due under the Halden licence and the bylaws?",
        "Ist die Kieler Lizenz oder die Bremer Lizenz strenger?",
        "Welche Fristen haben die Kieler Lizenz und Bremen?",
        "Is the NDA between Halden and Storvik longer than the lease with Norwind?",
        "What is the notice of the lease with Storvik and the Halden lease?",
        "Compare the rent of the lease with Storvik and of the Halden lease.",
        "Que prévoient la licence Corvo et Norwind en cas de litige ?",
    ],
)
def test_of_several_documents_none_is_the_one_that_is_named(question: str) -> None:
    assert find_naming(question) is None


def test_a_document_may_be_named_twice_and_beside_other_words() -> None:
    for question in (
        "Does the Halden licence end if the Halden licence is broken?",
        "May Ann and Bo sublet under the Halden lease and for how long?",
    ):
        naming = find_naming(question)
        assert naming is not None
        assert naming.named.startswith("the Halden l")


@pytest.mark.parametrize(
    "question",
    ["Which license is older?", "Who leads the Acme Corp under the new lease?", "Who founded Acme Corp?", ""],
)
def test_no_document_is_named(question: str) -> None:
    assert find_naming(question) is None
