"""Questions to `auto`, and replies that a scripted model gives to its calls."""

from typing import Any

from tests.twins.chat_server import Call, Reply

FISH = "In what year did Viking Press publish the coming-of-age novel by the author of Rumble Fish?"
WHO = "Who wrote Rumble Fish?"
NOVEL = "Which coming-of-age novel did <A1.1> write?"
YEAR = "In what year did Viking Press publish <A2.1>?"
CHAIN = (("Q1.1", WHO), ("Q2.1", NOVEL), ("Q3.1", YEAR))
FACTS = {
    WHO: ("S. E. Hinton", "fish", "a novel by S. E. Hinton"),
    "Which coming-of-age novel did S. E. Hinton write?": ("The Outsiders", "hinton", "novel The Outsiders"),
    "In what year did Viking Press publish The Outsiders?": ("1967", "outsiders", "published in 1967"),
    "How long is the Oder?": ("854 km", "oder", "It is 854 km long"),
    "How long is the Ebro?": ("930 km", "ebro", "It is 930 km long"),
}


def cite(call: Call, key: str, quote: str) -> dict[str, Any]:
    """A citation of a document's passage, by the number that the call gives it."""
    return {"passage": 1 + call.labels["passages"].split().index(key), "quote": quote}


def settled(answer: str, *citations: dict[str, Any], **rest: Any) -> Reply:
    return Reply.json(
        {"reasoning": "", "settled": True, "answer": answer, "citations": list(citations), "steps": []} | rest
    )


def plan(*steps: tuple[str, str], known: dict[str, Any] | None = None) -> Reply:
    """`known` are answers with their citations, by id."""
    written = [{"id": id, "question": text, "answer": "", "citations": []} for id, text in steps]
    for step in written:
        step.update((known or {}).get(step["id"], {}))
    return Reply.json({"reasoning": "", "settled": False, "answer": "", "citations": [], "steps": written})


def step(*answers: str, support: str = "stated", cited: Any = (), unstated: str = "", query: str = "") -> Reply:
    return Reply.json(
        {"answers": answers, "support": support, "unstated": unstated, "citations": list(cited), "query": query}
    )


def concluded(answer: str, support: str = "stated", unstated: str = "") -> Reply:
    return Reply.json({"thoughts": "", "answer": answer, "support": support, "unstated": unstated})


def answer_step(call: Call) -> Reply:
    answer, key, quote = FACTS[call.question]
    return step(answer, cited=[cite(call, key, quote)])
