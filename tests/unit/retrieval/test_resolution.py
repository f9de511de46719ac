"""How names are alike, which pairs are candidates, and what their features make of them."""

from dataclasses import replace

import pytest

from core.text.entity_types import EntityType
from retrieval.resolution.candidates import Candidate, pair_names
from retrieval.resolution.features import EXPLANATIONS, FEATURES, Nearness, compute_features
from retrieval.resolution.name_forms import make_form
from retrieval.resolution.proposals import read_model, shipped_model
from retrieval.resolution.relations import NameLikeness, Relation, relate

_FAR = Nearness(shared=0.0, count=0, apart=True, together=0.0, rival=0.0, titled=0.0, long_titled=0.0)
_NEAR = Nearness(shared=0.4, count=5, apart=False, together=1.0, rival=0.0, titled=1.0, long_titled=1.0)


@pytest.mark.parametrize(
    ("first", "second", "relation"),
    [
        ("José Martí", "Jose Marti", Relation.SPELLING),
        ("Надя Толокно", "Nadya Tolokno", Relation.SPELLING),
        ("St. Paul", "St Paul", Relation.SPELLING),
        ("Ada Lund", "Dr. Ada Lund", Relation.TITLE),
        ("Halden Works", "Halden Works, Inc.", Relation.TITLE),
        ("UNEP", "United Nations Environment Program", Relation.ACRONYM),
        ("U.C.F.", "University of Central Florida", Relation.ACRONYM),
        ("Ada Lund", "Ada Maria Lund", Relation.MIDDLE),
        ("Glen Post", "Glen F. Post III", Relation.MIDDLE),
        ("Enrique Bolaños", "Enrique José Bolaños Geyer", Relation.WITHIN),
        ("Cipriano Castro", "José Cipriano Castro Ruiz", Relation.WITHIN),
        ("Donald Mackay", "Donald Mackay CBE", Relation.TITLE),
        ("Airports of Thailand", "Airports of Thailand Public Company Limited", Relation.TITLE),
        ("U.S. Navy", "United States Navy", Relation.SPELLING),
        ("UK", "United Kingdom", Relation.SPELLING),
        ("Simon & Simon", "Simon and Simon", Relation.SPELLING),
        ("J. R. R. Tolkien", "John Ronald Reuel Tolkien", Relation.INITIALS),
        ("Jeff Porcaro", "Jeffrey Thomas Porcaro", Relation.SHORT),
        ("Tony Blair", "Anthony Charles Lynton Blair", Relation.SHORT),
        ("Lund, Ada", "Ada Lund", Relation.ORDER),
        ("Karl Emanuel Bach", "Carl Emmanuel Bach", Relation.TYPO),
        ("Arbor Creek", "Arbor Creek, Saskatoon", Relation.BEGINNING),
        ("Tent Embassy", "Aboriginal Tent Embassy", Relation.ENDING),
        ("Edina", "Edina, Missouri", Relation.FIRST_WORD),
        ("Lund", "Ada Lund", Relation.LAST_WORD),
    ],
)
def test_relations(first: str, second: str, relation: Relation) -> None:
    for pair in ((first, second), (second, first)):
        likeness = relate(*map(make_form, pair))
        assert likeness is not None
        assert likeness.relation is relation


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("History", "History of Oslo"),
        ("South Australia", "Governor of South Australia"),
        ("President of India", "Parliament of India"),
        ("Ada Lund", "Bela Lund"),
        ("George W. Bush", "George H. W. Bush"),
        ("King Vidor", "Charles Vidor"),
        ("Oslo", "Bergen"),
        ("Sunday Mornings", "Saturday Nights & Sunday Mornings"),
    ],
)
def test_names_without_a_relation(first: str, second: str) -> None:
    assert relate(make_form(first), make_form(second)) is None


@pytest.mark.parametrize(
    ("first", "second", "against"),
    [
        ("1932 Winter Olympics", "1936 Winter Olympics", "numbers_differ"),
        ("Elizabeth Windsor III", "Elizabeth Windsor II", "numbers_differ"),
        ("Mercury (planet)", "Mercury (element)", "qualifiers_differ"),
        ("Northern California", "Southern California", "contrast"),
        ("Clyde", "Clyde River", "extra_noun"),
        ("North Korea", "North Korean", "inflected"),
        ("Charlestown", "Charles Town", "respaced"),
        ("Pakistan", "Punjab, Pakistan", "before_comma"),
        ("Wikipedia", "Spanish Wikipedia", "contrast"),
        ("Silas Daniels", "Silas Daniels III", "generation"),
    ],
)
def test_what_speaks_against_a_pair(first: str, second: str, against: str) -> None:
    likeness = relate(make_form(first), make_form(second))
    assert likeness is not None
    assert getattr(likeness, against)


def _probability(first: str, second: str, near: Nearness, *types: EntityType | None) -> float:
    likeness = relate(make_form(first), make_form(second))
    assert isinstance(likeness, NameLikeness)
    pair = Candidate(0, 1, likeness, ())
    one, other = types or (None, None)
    return shipped_model().probability(compute_features(pair, near, (one, other)))


@pytest.mark.parametrize(
    ("name", "homonym"),
    [
        ("José Martí", "Jose Marti"),
        ("Ada Lund", "Dr. Ada Lund"),
        ("Ada Lund", "A. Lund"),
        ("Ada Lund", "Ada B. Lund"),
        ("Halden Works", "Halden Works Inc."),
        ("ABC", "Alpha Beta Colony"),
    ],
)
def test_homonyms_are_held_apart_by_their_neighbourhoods(name: str, homonym: str) -> None:
    assert _probability(name, homonym, _NEAR) > 0.8
    assert _probability(name, homonym, _FAR) < 0.6


def test_different_types_speak_against_a_pair() -> None:
    person, place = EntityType.PERSON, EntityType.PLACE
    alike, unlike = (_probability("Lund", "Ada Lund", _NEAR, first, person) for first in (person, place))
    assert alike > unlike


def test_a_name_with_rivals_is_less_probable_and_forms_of_one_name_are_no_rivals() -> None:
    names = {0: "lund", 1: "ada lund", 2: "bela lund", 3: "ada quent", 4: "quent"}
    found = {(pair.short, pair.long): pair for pair in pair_names(names).pairs}
    assert {key: pair.rivals for key, pair in found.items()} == {(0, 1): (2,), (0, 2): (1,), (4, 3): ()}
    model = shipped_model()
    shared, alone = (model.probability(compute_features(found[key], _NEAR, (None, None))) for key in ((0, 1), (4, 3)))
    assert shared < alone
    pairs = pair_names({0: "lund", 1: "ada lund", 2: "ada maria lund", 3: "bela lund"}).pairs
    rivals = {(pair.short, pair.long): pair.rivals for pair in pairs}
    assert (rivals[0, 1], rivals[0, 2], rivals[0, 3]) == ((3,), (3,), (1, 2))


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("enrique bolanos", "enrique jose bolanos geyer"),
        ("eddie irvine", "edmund irvine jr."),
        ("u.k.", "united kingdom"),
    ],
)
def test_names_of_one_thing_are_candidates(short: str, long: str) -> None:
    assert [(pair.short, pair.long) for pair in pair_names({0: short, 1: long}).pairs] == [(0, 1)]


def test_only_what_follows_the_name_is_behind_its_comma() -> None:
    told = [relate(make_form("Edsa"), make_form(name)) for name in ("Edsa, Manila", "Edsa Shangri-La, Manila")]
    assert [likeness is not None and likeness.after_comma for likeness in told] == [True, False]


def test_a_full_name_in_an_article_about_the_short_one() -> None:
    lead = replace(_FAR, apart=False, together=0.1, long_titled=1.0, titled=0.1)
    passing = replace(lead, long_titled=0.0, titled=0.0)
    assert _probability("Adam Duritz", "Adam Fredric Duritz", lead) > 0.75
    assert _probability("Adam Duritz", "Adam Fredric Duritz", passing) < 0.75


def test_a_word_that_too_many_names_have_pairs_none_and_dates_amounts_and_long_names_are_no_candidates() -> None:
    names = {number: f"{chr(97 + number % 26) * 3}{chr(97 + number // 26) * 3} lund" for number in range(41)}
    assert pair_names({**names, 100: "lund"}).pairs == ()
    names = {0: "12 may 1950", 1: "12 may, 1950", 2: "5 km", 3: "5 km.", 4: "lund " * 30, 5: "lund " * 31}
    assert pair_names(names).pairs == ()


def test_effects_add_up_to_the_probability() -> None:
    model = shipped_model()
    assert tuple(model.weights) == FEATURES == tuple(map(str, EXPLANATIONS))
    likeness = relate(make_form("Ada Lund"), make_form("Dr. Ada Lund"))
    assert likeness is not None
    features = compute_features(Candidate(0, 1, likeness, ()), _NEAR, (None, None))
    effects = model.effects(features)
    assert effects.keys() == features.keys()
    assert effects["title"] > 0


def test_weights_for_other_features_are_refused() -> None:
    with pytest.raises(ValueError, match=r"other features: .*colour"):
        read_model('{"bias": 0, "features": {"colour": {"weight": 1, "mean": 0}}}')
