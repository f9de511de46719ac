"""A dataset of two hops: a person's passage names a town, and the town's passage names its river."""

import json
from pathlib import Path

_STARTS = ("Bar", "Cor", "Del", "Fen", "Gal", "Hol", "Kar", "Lor", "Mer", "Nor")
_ENDS = ("mouth", "stead", "wick", "dale", "ford", "minster", "by", "combe", "thorpe", "holm")


def write_townsfolk(folder: Path, *, people: int, distractors: int = 2) -> None:
    """As many questions as people, at most a hundred; `distractors` towns for each that nobody was born in."""
    folder.mkdir(parents=True, exist_ok=True)
    passages, questions = [], []
    for number in range(people):
        first, last = _STARTS[number % 10], _ENDS[number // 10]
        person, town, river = f"{first}ina {last.title()}", f"{first}{last}", f"{first}el{last}"
        passages += [
            {"id": f"person{number}", "title": person, "text": f"{person} was a painter, born in {town}."},
            {"id": f"town{number}", "title": town, "text": f"{town} is a market town on the River {river}."},
        ]
        for other in range(distractors):
            name = f"{first}en{last}{'aeiou'[other]}"
            passages.append({"id": f"far{number}-{other}", "title": name, "text": f"{name} is on a river, far away."})
        questions.append(
            {
                "id": f"q{number}",
                "question": f"On which river is the town where {person} was born?",
                "answer": river,
                "supporting": [f"person{number}", f"town{number}"],
            }
        )
    for name, rows in (("corpus.jsonl", passages), ("questions.jsonl", questions)):
        (folder / name).write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
