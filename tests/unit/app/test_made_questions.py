"""How much work made questions are, in lines that are run, and that it ends once nobody waits."""

import pytest

from app.services.made_questions.kinds import MAKERS
from app.services.made_questions.making import MadeQuestions, make_questions
from app.services.made_questions.material import Fact, Material, Passage
from app.services.made_questions.questions import Kind, MadeQuestion
from app.services.made_questions.sources import Sources
from core.errors import LoadFailed
from core.execution.limits import WorkLimit
from tests.counted_lines import count_lines

_FIRST = ("Alba", "Boris", "Clara", "David", "Emma", "Felix", "Greta", "Hugo", "Irene", "Jonas")
_LAST = ("Huber", "Kolb", "Meier", "Novak", "Okeke", "Pauli", "Quinn", "Rossi", "Suter", "Tanner")
_FOLDER = "made_questions"


def make_material(people: int) -> Material:
    """Each person has a document, which defines a term. All were born in the same town, half of them died, and each
    second one founded a company, of which the next document tells.
    """
    names = {"town": "Basel", "country": "Helvetia"}
    passages, facts = [], []
    for n in range(people):
        last = f"{_LAST[n // 10 % 10]}{chr(97 + n % 26)}{chr(97 + n // 26)}"
        names[f"p{n}"] = f"{_FIRST[n % 10]} {last}"
        text = f"{names[f'p{n}']} was born in Basel. “Share {last}” means the part of the town that the family holds."
        own = [(f"p{n}", "was born in", "town")]
        if n % 4 < 2:
            names[f"d{n}"] = f"{1 + n % 28} May {1900 + n % 90}"
            text += f" {names[f'p{n}']} died on {names[f'd{n}']}."
            own.append((f"p{n}", "died on", f"d{n}"))
        if n % 2:
            names[f"c{n}"] = f"Works Nr{n}{last}"
            text += f" {names[f'c{n}']} was founded by {names[f'p{n - 1}']}."
            own.append((f"c{n}", "founded by", f"p{n - 1}"))
        if n == 0:
            text += " Basel is the capital of Helvetia.\n\n| Town | People |\n|---|---|\n| Basel | 400 |\n"
            own.append(("town", "is capital of", "country"))
        passage = Passage(id=str(n), key=f"{n:04}", title=names[f"p{n}"], text=text, span=None)
        passages.append(passage)
        facts += [Fact(passage=passage, subject_id=s, predicate=p, object_id=o) for s, p, o in own]
    return Material(
        passages=passages, facts=facts, names=names, total=people, documents=people, languages={"en": people}
    )


def count_work(kind: Kind, people: int) -> int:
    """Returns how many lines are run until the questions of a kind are made."""
    material, made = make_material(people), list[MadeQuestions]()
    lines = count_lines(lambda: made.append(make_questions(material, 500, 0, [kind])), _FOLDER)
    assert made[0].possible[kind] >= people // 10
    return lines


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.CELL])
def test_the_work_grows_with_the_corpus_and_not_with_its_square(kind: Kind) -> None:
    few, many = count_work(kind, 150), count_work(kind, 600)
    assert many < 5 * few, f"4 times the documents take {many / few:.1f} times the lines"


@pytest.mark.parametrize("kind", Kind)
def test_no_kind_goes_on_once_nobody_waits(kind: Kind) -> None:
    sources = Sources.of(make_material(30))
    assert list(MAKERS[kind](sources))
    limit = WorkLimit("questions", 600, "")
    limit.end()
    made: list[MadeQuestion] = []
    with pytest.raises(LoadFailed, match="not waited for"), limit.running():
        made += MAKERS[kind](sources)
    assert not made
