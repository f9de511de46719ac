"""Answers that say that there is none."""

import pytest

from reasoning.actions.replies import is_abstention


@pytest.mark.parametrize(
    "answer",
    [
        "I do not know.",
        "I don't know",
        "I cannot determine the answer from the passages.",
        "I'm sorry, but I don't know who founded it.",
        "Sorry, I do not have any information about that.",
        "I have no information on the founder.",
        "I'm not sure who founded it.",
        "I am not sure.",
        "Unknown",
        "The answer is unknown.",
        "N/A",
        "Not specified",
        "Not explicitly mentioned in the passages.",
        "It is not stated.",
        "The founder of the mill is not mentioned.",
        "The date cannot be determined from the passages.",
        "The passages do not mention who founded it.",
        "The provided context doesn't contain this information.",
        "There is no information about the founder.",
        "No information",
        "Ich weiß es nicht.",
        "Das weiß ich leider nicht.",
        "Leider nicht bekannt",
        "Désolé, mais je ne sais pas.",
        "Lo siento, no sé.",
        "Nicht angegeben",
        "Je ne sais pas.",
        "Non précisé",
        "Desconocido",
    ],
)
def test_an_abstention_in_any_words(answer: str) -> None:
    assert is_abstention(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Unknown Pleasures",
        "Ines Corvo",
        "no",
        "None",
        "The passages do not say who founded it, but Ines Corvo sold it.",
        "It is not a mill.",
        "I'm not sure, possibly Ines Corvo",
        "Sorry, but Ines Corvo",
        "Sorry We Missed You",
        "The mill is known for its cloth.",
        "No. 5",
        "Notes on a Scandal",
    ],
)
def test_an_answer_is_none(answer: str) -> None:
    assert not is_abstention(answer)
