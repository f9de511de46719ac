"""Sentences of real text in five languages and four genres, and what is promised of every text."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.sentences import iter_segments, segment, split_sentences
from core.text.sentences.ends import BEFORE_NAME, BEFORE_NUMBER, BEFORE_TEXT, MAY_END
from tests.real_sentences import GENRES, LANGUAGES, Counts, Excerpt, count_boundaries, read_excerpts

_EXCERPTS = read_excerpts()
_LEAST = 0.97


def cut(text: str) -> list[str]:
    return [text[a:b].strip() for a, b in split_sentences(text)]


def score(excerpts: Sequence[Excerpt], split: Callable[[str], list[tuple[int, int]]]) -> Counts:
    return sum((count_boundaries(e, split(e.text), inside=True) for e in excerpts), Counts())


@pytest.mark.parametrize("split", [split_sentences, segment])
@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("kind", [*LANGUAGES, *GENRES])
def test_boundaries_are_those_that_a_reader_sets(
    kind: str, held_out: bool, split: Callable[[str], list[tuple[int, int]]]
) -> None:
    excerpts = [e for e in _EXCERPTS if kind in (e.language, e.genre) and e.held_out is held_out]
    counts = score(excerpts, split)
    assert counts.there >= 40
    assert counts.f1 >= _LEAST, counts


def test_the_set_has_a_thousand_sentences() -> None:
    assert sum(len(excerpt.sentences) for excerpt in _EXCERPTS) >= 1000
    assert {(e.language, e.genre) for e in _EXCERPTS} == {(one, other) for one in LANGUAGES for other in GENRES}
    assert len({excerpt.id for excerpt in _EXCERPTS}) == len(_EXCERPTS)


@pytest.mark.parametrize("excerpt", _EXCERPTS, ids=lambda excerpt: excerpt.id)
def test_nothing_of_real_text_is_lost(excerpt: Excerpt) -> None:
    assert "".join(excerpt.text[a:b] for a, b in segment(excerpt.text)) == excerpt.text


@pytest.mark.parametrize(
    "sentences",
    [
        "The fines follow Art. 83 para. 5 GDPR. | They are high.",
        "Nach § 5 Abs. 2 Nr. 3 UStG gilt das nicht. | Es gilt etwas anderes.",
        "Er kam am 3. April 2025 an. | Am 4. ging er.",
        "Our fee is approx. EUR 4,500 net. | It is due at once.",
        "In BMW v. Gore the court held so. | See No. 12 of the list. | The end.",
        "See e.g. Smith et al. (2019). | It works, i.e. it runs.",
        "Vgl. S. 12 f. und S. 14 ff. des Urteils. | Der Senat folgt dem nicht.",
        "The answer is no. | He left at 5 p.m. on Monday. | We stayed.",
        "Mr. J. R. R. Tolkien wrote it. | He lived in the U.S. | The book sold.",
        "Der Vertrag vom 1. 2. 2024 ist gültig. | Er endet am 31.12.2025. | Danach gilt Nr. 4.",
        "Il signor Rossi (v. art. 12, co. 3, d.lgs. n. 196/2003) ricorre. | Il ricorso è infondato.",
        "Véase la pág. 12 y el art. 3 de la Ley núm. 5. | El Sr. García vive en EE. UU. desde 1990. | Trabaja allí.",
        "Existió desde el siglo XII a. C. | El primer fragmento es de Uruk.",
        "M. Dupont et Mme Durand citent l'art. L. 121-1. | Le décret n° 5 du 3 janv. 2020 reste.",
        "Wir haben Tee, Kaffee usw. im Haus. | Wir trinken z. B. Tee, d. h. viel.",
        "Siehe BGH, Urt. v. 12.3.2019 – VI ZR 1/18, NJW 2019, 123 Rn. 5. | Das OLG irrte.",
        "Prof. Dr. med. Hans Meier kommt. | Er bringt Dipl.-Ing. Kurz mit.",
        "Das Buch erschien im 19. Jahrhundert. | Im 20. Jh. wurde es berühmt.",
        "In Sec. 4.2 (cf. Fig. 3) we prove it. | Eq. (5) holds.",
        "The content is not Google’s. | This one is marked with '#'. | Then use -k. | It helps.",
        "Section 5. Definitions follow. | (The first is long. | The second is not.) | See p. 3.",
        "He said: “I will go.” | She asked “Why?” and stayed.",
        "Distribution de licence. | les droits restent.",
    ],
)
def test_abbreviations_dates_and_references_end_no_sentence(sentences: str) -> None:
    expected = sentences.split(" | ")
    assert cut(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "sentences",
    [
        "3.\nThe third.\n\n|4. The fourth.",
        "We need:\n|a) one;\n|b) two;\n|c) three.",
        "mime:\n|The default.\n|append:\n|No part.",
        "8. Liability\n|The licensee is liable for what follows from any use of the rights\nthat are granted.",
        "This paragraph is wrapped at sixty columns by its writer,\nAlthough a capital begins the next line.",
    ],
)
def test_items_headings_and_labels_stand_alone(sentences: str) -> None:
    assert cut(sentences.replace("|", "")) == [sentence.strip() for sentence in sentences.split("|")]


_WORDS = [
    "Art.",
    "5",
    "Abs.",
    "z.",
    "B.",
    "The",
    "end.",
    "(see",
    "No.",
    "3.)",
    "\n",
    "\n\n",
    "–",
    "“Ja.”",
    "a)",
    "1.",
    "Él",
    "…",
]


@given(st.lists(st.sampled_from(_WORDS), max_size=60))
def test_ranges_follow_each_other_and_leave_out_nothing(words: list[str]) -> None:
    text = " ".join(words)
    for ranges in (segment(text), split_sentences(text)):
        assert all(first[1] == second[0] for first, second in pairwise(ranges))
        assert "".join(text[a:b] for a, b in ranges).split() == text.split()


def test_a_word_has_one_kind() -> None:
    kinds = (BEFORE_NAME, BEFORE_NUMBER, BEFORE_TEXT, MAY_END)
    assert all(word == word.casefold() for kind in kinds for word in kind)
    assert [one & other for place, one in enumerate(kinds) for other in kinds[place + 1 :] if one & other] == []


_LONG = [*(". ", "A. ", "1. ", "(A. ", 'A. "', "Abc def\n", "a:\nB\n", "\n- a", "(\n30) ", "?! ", "A. " + '"' * 100)]


@pytest.mark.parametrize("unit", _LONG)
def test_each_place_is_looked_at_once(unit: str) -> None:
    """Work is counted in characters that are read around the places where a sentence may end."""
    read = 0

    class Counted(str):
        __slots__ = ()

        def __getitem__(self, key: object) -> str:
            nonlocal read
            part = super().__getitem__(key)  # type: ignore[index]
            read += len(part)
            return part

    text = Counted(unit * (20_000 // len(unit)))
    assert len(list(iter_segments(text))) > 5
    assert read <= 60 * len(text)
