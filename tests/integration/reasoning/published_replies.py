"""Replies in the forms that the published systems ask for, to questions of `level/replies.py` and `par_replies.py`."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.container import PUBLISHED, read_prompts
from core.prompting.prompts import PromptLibrary, use_prompts
from core.settings import Settings
from tests.integration.reasoning.level.replies import HOPS, SUMMARIES
from tests.integration.reasoning.par_replies import REFINED, STATEMENTS, STEPS
from tests.twins.chat_server import Call, Reply


def published_prompts() -> PromptLibrary:
    return read_prompts(Settings(prompts_dir=Path(PUBLISHED)))


@contextmanager
def published() -> Iterator[None]:
    with use_prompts(published_prompts()):
        yield


def level_reply(call: Call) -> Reply:
    """A good model in LevelRAG's forms: first hops, one sentence each, and a supplement until the answer is there."""
    match call.role:
        case "atomic_queries":
            return Reply(text=f"[1] {HOPS[0]}")
        case "summarize":
            return Reply(text=SUMMARIES[call.question][0])
        case "verify":
            return Reply(text="Yes." if "Viking Press" in call.text else "No.")
        case "supplement":
            return Reply(text=f"[1] {HOPS[_count_contexts(call)]}")
        case "rewrite_keywords":
            return Reply(text='"Rumble Fish" author writer')
        case "pseudo_document":
            return Reply(text="Rumble Fish was written\nby S. E. Hinton.")
        case "refine_query":
            return Reply.json({"extend": "writer", "emphasize": "Rumble Fish", "filter": ""})
        case "extend_query" | "emphasize_query" | "filter_query":
            return Reply(text='"Rumble Fish"')
    return Reply.json({"answer": "Viking Press [3]", "support": "stated", "unstated": ""})


def _count_contexts(call: Call) -> int:
    """The contexts of the question, without those of the prompt's examples."""
    return str(call.messages[-1]["content"]).count("Context ")


def par_reply(call: Call) -> Reply:
    """A good model in PAR RAG's forms: a list of steps, sentences with citations, reviews that pass."""
    answers = {
        STEPS[0][0]: (STATEMENTS[0], "Rumble Fish"),
        REFINED[0]: (STATEMENTS[1], "The Outsiders"),
        REFINED[1]: (STATEMENTS[2], "Viking Press"),
    }
    match call.role:
        case "plan":
            steps = [{"Thought": "next", "Question": question, "Action": action} for question, action in STEPS]
            return Reply(text=f"```json\n{json.dumps(steps, indent=2)}\n```")
        case "answer":
            sentence, title = answers[call.question]
            return Reply(text=f"{sentence.removesuffix('.')} [{_number_of(call, title)}].")
        case "query_entities":
            return Reply.json({"entities": []})
        case "review":
            return Reply(text=json.dumps({"Status": "PASS", "Answer": answers[call.question][0]}))
        case "refine":
            return Reply(text=REFINED[[STEPS[1][0], STEPS[2][0]].index(call.question)])
    return Reply(text="Viking Press")


def _number_of(call: Call, title: str) -> str:
    found = re.search(rf'<passage n="(\d+)" title="{title}"', call.text)
    return found[1] if found else "1"
