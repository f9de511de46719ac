"""Made questions of two hops whose first hop has a plausible wrong answer, and the passages that they are about.

Names and values are drawn, so that whoever answers as the model cannot know them. Each kind has two wordings. A planted
question has two answers to its first hop: that of the better known film, river, curator or person, of whom no passage
says what is asked next, and another one. A control has one answer to the first hop; of every third control no passage
says what is asked next.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["MadeQuestion", "iterate_passages", "make_questions"]

_STARTS = [
    "Bal",
    "Cor",
    "Dra",
    "Eld",
    "Fen",
    "Gar",
    "Hol",
    "Ist",
    "Jor",
    "Kel",
    "Lum",
    "Mor",
    "Nev",
    "Orl",
    "Pel",
    "Quar",
    "Rav",
    "Sel",
    "Tor",
    "Ulm",
    "Var",
    "Wen",
    "Yar",
    "Zel",
]
_ENDS = [
    "adin",
    "avo",
    "bek",
    "den",
    "eru",
    "fold",
    "gard",
    "hurst",
    "ilo",
    "kan",
    "lund",
    "mere",
    "nik",
    "ovar",
    "pra",
    "rick",
    "stal",
    "ton",
    "uri",
    "vik",
    "wyn",
    "zan",
]
_FIRST = [
    "Ada",
    "Bruno",
    "Clara",
    "Davit",
    "Elena",
    "Felix",
    "Greta",
    "Hugo",
    "Irma",
    "Jonas",
    "Karin",
    "Leon",
    "Marta",
    "Nils",
    "Olga",
    "Petra",
    "Rolf",
    "Sonja",
]
_THINGS = "Silver Gate,Long Winter,Paper Moon,Blue Orchard,Last Ferry,Glass Tower,Quiet Harbour,Red Meadow,Iron Bell"
_HOUSES = "Museum,Observatory,Archive,Conservatory,Library,Botanical Garden"


@dataclass(frozen=True, kw_only=True)
class MadeQuestion:
    """`wrong` is the plausible answer of the first hop, '' for a control; `answer` is '' if no passage has it.

    `number` counts the planted questions of a kind, and its controls, from 0.
    """

    id: str
    number: int
    text: str
    answer: str
    first: str
    wrong: str = ""
    second_wording: bool = False
    passages: Sequence[tuple[str, str]] = field(default_factory=tuple)


class _Names:
    """Draws names, each once."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._taken: set[str] = set()

    def _once(self, *parts: Sequence[str], form: str = "{}{}") -> str:
        while (name := form.format(*map(self.random.choice, parts))) in self._taken:
            pass
        self._taken.add(name)
        return name

    def place(self) -> str:
        return self._once(_STARTS, _ENDS)

    def person(self) -> str:
        return f"{self.random.choice(_FIRST)} {self.place()}"

    def thing(self) -> str:
        return self._once([self.place()], _THINGS.split(","), form="The {1} of {0}")

    def house(self) -> str:
        return self._once([self.place()], _HOUSES.split(","), form="{} {}")

    def year(self, first: int, last: int) -> int:
        return self.random.randint(first, last)


def make_questions(seed: int = 37, *, planted: int = 6, controls: int = 3) -> list[MadeQuestion]:
    """Returns `planted` and `controls` questions of each of the four kinds, every second one in the second wording."""
    names = _Names(seed)
    makers = (_film, _holder, _namesake, _village)
    return [
        maker(names, wrong=wrong, number=number)
        for maker in makers
        for wrong in (True, False)
        for number in range(planted if wrong else controls)
    ]


def _film(names: _Names, *, wrong: bool, number: int) -> MadeQuestion:
    """Two films of one title."""
    film, one, other, town = names.thing(), names.person(), names.person(), names.place()
    year, later = names.year(1935, 1960), names.year(1975, 1999)
    text = (
        f"In which town was the director of the film {film} born?",
        f"Where does the maker of the movie “{film}” come from?",
    )[number % 2]
    passages = [
        (film, f"{film} is a {year} drama film directed by {one}. It tells of a family that leaves the coast."),
        (f"Festival of {names.place()}", f"{film} by {one} opened the festival of {year}, and won its prize."),
        (f"Music of {film}", f"The music of {film} was written in two weeks; {one} wanted a single violin."),
        (one, f"{one} was a film director, active from {year - 8} to {year + 12}. The late films were shot in colour."),
    ]
    if wrong:
        passages += [
            (f"{film} ({later} film)", f"{film} is a {later} film about a lighthouse. Its director is {other}."),
            (other, f"{other} (born {later - 40} in {town}) is a director who began as a painter of signs."),
        ]
    return _finish(names, "film", text, passages, one, other, town, wrong=wrong, number=number)


def _holder(names: _Names, *, wrong: bool, number: int) -> MadeQuestion:
    """A former and a later holder of an office."""
    house, one, other, town = names.house(), names.person(), names.person(), names.place()
    year = names.year(1960, 1990)
    text = (
        f"At which university did the curator of the {house} study?",
        f"Which university educated the head of the {house}?",
    )[number % 2]
    passages = [
        (house, f"The {house} was founded in {year - 60}. Its curator is {one}, who heads a staff of nine."),
        (f"Annual report of the {house}", f"The curator, {one}, thanks all visitors. The roof was mended."),
        (f"A walk through the {house}", f"{one}, head of the house, leads the walk on Sundays in spring."),
        (one, f"{one} is a curator and a collector of clocks, who published a catalogue of sundials."),
    ]
    if wrong:
        passages += [
            (f"Chronicle of {names.place()}", f"From {year} to {year + 9} {other} was curator of the {house}."),
            (other, f"{other} studied history at the University of {town}, and wrote about salt roads."),
        ]
    return _finish(names, "holder", text, passages, one, other, f"University of {town}", wrong=wrong, number=number)


def _namesake(names: _Names, *, wrong: bool, number: int) -> MadeQuestion:
    """Two persons of one name."""
    pupil, one, other, bridge = names.person(), names.person(), names.person(), names.place()
    year = names.year(1820, 1880)
    text = (
        f"Which bridge is named after the teacher of {pupil}?",
        f"What is the name of the bridge that honours the person who taught {pupil}?",
    )[number % 2]
    passages = [
        (pupil, f"{pupil} (born {year}) was a painter of harbours, taught by {one} from the age of twelve."),
        (f"Letters of {pupil}", f"In the letters {pupil} often recalls the strict lessons of {one}."),
        (f"Harbour at night ({pupil})", f"Harbour at night is a painting of {year + 30} by {pupil}."),
        (one, f"{one} painted altars and gave lessons in a loft above a bakery."),
    ]
    if wrong:
        passages += [
            (f"{pupil} (organist)", f"{pupil} (born {year + 40}) was an organist and a pupil of {other}."),
            (f"{bridge} Bridge", f"The {bridge} Bridge was opened in {year + 70} and named in honour of {other}."),
        ]
    return _finish(names, "namesake", text, passages, one, other, f"{bridge} Bridge", wrong=wrong, number=number)


def _village(names: _Names, *, wrong: bool, number: int) -> MadeQuestion:
    """Two villages of one name."""
    village, one, other = names.place(), names.place(), names.place()
    county, far = names.place(), names.place()
    length = f"{names.year(40, 400)} km"
    text = (
        f"How long is the river on which the village {village} lies?",
        f"What is the length of the river that flows past {village}?",
    )[number % 2]
    passages = [
        (village, f"{village} is a village in the county of {county}. It lies on the river {one}."),
        (f"Market of {village}", f"Each May the market of {village} fills both banks of the {one}."),
        (f"Mills of {county}", f"Of the mills at {village}, two still stand at the {one}."),
        (f"{one} (river)", f"The {one} is a river in {county}, known for its pike and its wooden weirs."),
    ]
    if wrong:
        passages += [
            (f"{village} ({far})", f"{village} in {far} is a hamlet on the river {other}, with a chapel."),
            (f"{other} (river)", f"The {other} rises in the hills of {far} and is {length} long."),
        ]
    return _finish(names, "village", text, passages, one, other, length, wrong=wrong, number=number)


def _finish(
    names: _Names,
    kind: str,
    text: str,
    passages: list[tuple[str, str]],
    one: str,
    other: str,
    answer: str,
    *,
    wrong: bool,
    number: int,
) -> MadeQuestion:
    """Returns the question. Of a control, the last passage gets the answer, unless there is none."""
    if not wrong:
        has_answer = number % 3 != 0
        title, said = passages[-1]
        told = {
            "University": f"{one} studied at the {answer}.",
            "Bridge": f"The {answer} is named after {one}.",
            "km": f"The {one} is {answer} long.",
        }.get(
            next((word for word in ("University", "Bridge", "km") if word in answer), "")
        ) or f"{one} was born in {answer}."
        passages[-1] = (title, f"{said} {told}" if has_answer else said)
        answer = answer if has_answer else ""
    names.random.shuffle(passages)
    return MadeQuestion(
        id=f"{kind}-{'planted' if wrong else 'control'}-{number}",
        number=number,
        text=text,
        answer=answer,
        first=other if wrong else one,
        wrong=one if wrong else "",
        second_wording=bool(number % 2),
        passages=passages,
    )


def iterate_passages(questions: Sequence[MadeQuestion]) -> Iterator[tuple[str, str, str]]:
    """Yields the key, title and text of every passage."""
    for question in questions:
        for number, (title, text) in enumerate(question.passages):
            yield f"{question.id}-{number}", title, text
