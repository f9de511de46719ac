"""A question to LevelRAG, and replies that a scripted model gives to its calls."""

from collections.abc import Sequence

from core.ports.reasoning import Answer
from tests.twins.chat_server import Call, ChatServer, Reply

QUESTION = "Who published the coming-of-age novel by the author of Rumble Fish?"
HOPS = [
    "Who is the author of Rumble Fish?",
    "Which coming-of-age novel is by S. E. Hinton?",
    "Which house published The Outsiders?",
]
SUMMARIES = {
    HOPS[0]: ("Rumble Fish is a novel by S. E. Hinton.", "Rumble Fish"),
    HOPS[1]: ("The coming-of-age novel by S. E. Hinton is The Outsiders.", "S. E. Hinton"),
    HOPS[2]: ("The Outsiders was published by Viking Press.", "The Outsiders"),
}
PLAIN = "level:searchers=bridged"
"""One low-level searcher that makes no calls, for tests of the high level alone."""


def queries(*texts: str) -> Reply:
    return Reply.json({"queries": texts})


def summarized(text: str, *citations: int, support: str = "stated", unstated: str = "") -> Reply:
    return Reply.json({"summary": text, "support": support, "unstated": unstated, "citations": list(citations)})


def concluded(text: str, support: str = "stated") -> Reply:
    return Reply.json({"answer": text, "support": support, "unstated": ""})


def enough(verdict: bool) -> Reply:
    return Reply.json({"enough": verdict})


def number_of(call: Call, title: str) -> int:
    return next(n for n in range(1, 20) if f'<passage n="{n}" title="{title}">' in call.text)


def three_hops(server: ChatServer, *, final: str = "Viking Press [3]") -> None:
    """A good model: first hops only, one supplement after the other, enough after three."""

    def respond(call: Call) -> Reply:
        match call.role:
            case "atomic_queries":
                return queries(HOPS[0])
            case "summarize":
                text, title = SUMMARIES[call.question]
                return summarized(text, number_of(call, title))
            case "verify":
                return enough("Viking Press" in call.text)
            case "supplement":
                return queries(HOPS[call.text.count("\nContext ")])
        return concluded(final)

    server.respond = respond


def comparison(server: ChatServer, *, first: Sequence[str] = ("How tall is Zork?", "How tall is Viking?")) -> None:
    def respond(call: Call) -> Reply:
        match call.role:
            case "atomic_queries":
                return queries(*first)
            case "summarize":
                return summarized(f"This is about: {call.question}", 1)
            case "verify":
                return enough(True)
        return concluded("Zork [1]")

    server.respond = respond


def depths(answer: Answer) -> list[tuple[str, tuple[str, ...], int]]:
    return [(step.id, step.parents, step.depth) for step in answer.steps]
