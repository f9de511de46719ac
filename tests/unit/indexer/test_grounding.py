"""Which triples stand in their passage, and the names that their ends have there."""

import pytest

from core.graph import Triple
from indexer.extractors._grounding import Grounds

TITLE = "Humaya River (Mexico)"
TEXT = (
    "The Humaya River is a river in Sinaloa that connects to the Tamazula River to form the Culiacán River. "
    "Its source is in the Sierra Madre Occidental. Ofra Tamm (1911-1984) mapped it for the Orle School."
)
NAMES = ("Humaya River", "Tamazula River", "Culiacán River", "Sierra Madre Occidental", "Ofra Tamm", "Orle School")


def check(triple: tuple[str, str, str], *, is_strict: bool, title: str = TITLE, text: str = TEXT) -> Triple | None:
    subject, predicate, object_ = triple
    given = Triple(subject=subject, predicate=predicate, object=object_)
    [checked] = Grounds(title=title, text=text, names=NAMES).check([given], is_strict=is_strict)
    return checked


@pytest.mark.parametrize(
    ("triple", "stands", "strictly"),
    [
        (("Humaya River", "connects to", "Tamazula River"), True, True),
        (("Humaya River", "is in", "Sinaloa"), True, True),  # words such as "is" and "in" need not stand there
        (("Ofra Tamm", "map", "Humaya River"), True, True),  # by stems
        (("Ofra Tamm", "mapped for", "the Orle School"), True, True),
        (("Humaya River", "mapped by", "Ofra Tamm"), True, True),  # the title is an end in every sentence
        (("Humaya", "mapped by", "Ofra Tamm"), True, True),  # and so is a part of it
        (("Humaya River", "has its source in", "Sierra Madre"), True, True),  # a part of a name
        (("School of Orle", "mapped", "Humaya River"), True, True),  # all words, in another order
        (("Humaya River", "flows into", "Tamazula River"), True, False),  # a relation in other words
        (("Ofra Tamm", "mapped", "Tamazula River"), True, False),  # ends in two sentences
        (("Humaya River", "connects to", "large Tamazula River"), True, False),  # a word that stands nowhere
        (("Humaya River", "connects to", "Mississippi"), False, False),
        (("Marie Curie", "was born in", "Warsaw"), False, False),
        (("Humaya River", "mapped in", "1920"), False, False),
        (("Ofra Tamm", "born in", "1911"), True, True),  # brackets say it
        (("Ofra Tamm", "taught in", "1911"), True, False),
        (("The Humaya River that connects to the Tamazula River", "is in", "Sinaloa"), True, False),  # a clause
        (("Humaya River", "is", "Humaya River"), True, False),
        (("Humaya River", "connects to", "the"), True, False),
    ],
)
def test_a_triple_stands_in_its_passage(triple: tuple[str, str, str], *, stands: bool, strictly: bool) -> None:
    assert (check(triple, is_strict=False) is not None) is stands
    assert (check(triple, is_strict=True) is not None) is strictly


@pytest.mark.parametrize(
    ("end", "name"),
    [
        ("It", "Humaya River"),
        ("the river", "Humaya River"),
        ("This River", "Humaya River"),
        ("humaya river", "Humaya River"),
        ("Humaya River (Mexico)", "Humaya River"),
        ("the Humaya River", "Humaya River"),
        ("the Tamazula River", "Tamazula River"),
        ("ORLE SCHOOL", "Orle School"),
        ("the school", "the school"),
        ("a river", "a river"),
    ],
)
def test_an_end_has_the_name_of_what_it_means(end: str, name: str) -> None:
    checked = check((end, "is in", "Sinaloa"), is_strict=False)
    assert checked is not None
    assert checked.subject == name


@pytest.mark.parametrize(
    ("title", "end", "is_title"),
    [
        ("Journal of Small Business", "the journal", True),
        ("Journal of Small Business", "the business", False),
        ("Lake Hefner", "the lake", True),
        ("University of Vienna", "the university", True),
        ("", "the river", False),
        ("", "it", False),
    ],
)
def test_a_description_means_the_title_by_its_kind(title: str, end: str, *, is_title: bool) -> None:
    text = "The journal, the business, the lake, the university, the river: it is old."
    checked = check((end, "is", "old"), is_strict=False, title=title, text=text)
    assert checked is not None
    assert (checked.subject == title) is is_title


def test_other_scripts_stand_in_their_passage() -> None:
    text = "北京大学位于北京市海淀区。它成立于1898年。"
    assert check(("北京大学", "位于", "海淀区"), is_strict=True, title="北京大学", text=text)
    assert check(("北京大学", "成立于", "1898年"), is_strict=True, title="北京大学", text=text)
    assert check(("上海", "位于", "海淀区"), is_strict=False, title="北京大学", text=text) is None


def test_words_of_the_heading_stand_in_the_passage() -> None:
    triple = Triple(subject="Awards", predicate="include", object="Quill Prize")
    text = "The Quill Prize in 1950."
    assert Grounds(title="Ofra Tamm", text=text).check([triple], is_strict=False) == [None]
    assert Grounds(title="Ofra Tamm", heading="Life › Awards", text=text).check([triple], is_strict=False) == [triple]
