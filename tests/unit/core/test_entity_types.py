"""Types of entities: what names show by themselves, what facts say, and how both are weighed."""

import pytest

from core.text.entity_types import EntityType, FactEnd, choose_type, find_type_of_fact, find_type_of_name

PERSON, ORGANISATION, PLACE = EntityType.PERSON, EntityType.ORGANISATION, EntityType.PLACE


@pytest.mark.parametrize(
    ("type", "names"),
    [
        (EntityType.DATE, ("2 July 1990", "March 12, 1996", "1. Januar 2020", "3 mars 1990", "1990s", "Q3 2023")),
        (EntityType.AMOUNT, ("$81,797", "4.5 %", "12 million", "1,234", "20 km", "3,5 Mio. EUR", "30 Tage")),
        (ORGANISATION, ("Orlo Works Inc.", "Quent AG", "Tell S.A.", "Umber e.V.", "University of Marrowby")),
        (ORGANISATION, ("Bank of Tessaly", "Marrowby Council", "Universität Halden", "North Sea Ltd")),
        (EntityType.LAW, ("Directive 95/46/EC", "Verordnung (EU) 2016/679", "Clean Lamps Act", "17 U.S.C. § 107")),
        (EntityType.LAW, ("Bundeslampengesetz", "§ 25a KWG", "Loi n° 78-17", "Treaty of Marrowby")),
        (PLACE, ("Ume River", "Lake Umber", "Marrowby County", "Mount Quent", "Republic of Tessaly", "Umber Street")),
        (PERSON, ("Dr. Quent", "Frau Corvo", "John F. Quent", "J. R. R. Quent", "Orlo Quent Jr.", "Mary Corvo")),
        (EntityType.WORK, ("Lamps (film)", "“The Lamps of Umber”", "Journal of Lamps")),
        (EntityType.OTHER, ("Battle of Umber", "World War II", "Lamps (language)")),
    ],
)
def test_a_name_shows_its_type(type: EntityType, names: tuple[str, ...]) -> None:
    assert {name: find_type_of_name(name) for name in names} == dict.fromkeys(names, type)


@pytest.mark.parametrize(
    "name",
    [
        *("", "Marrowby", "Henry", "Paris", "the company", "5G", "12", "George W. Bush Library", "Gen X", "Services"),
        *("Mary Corvo Prize", "Saint Umber", "James River Bridge Report", "東京", "=SUM(A1:A9)", "a" * 9_000),
    ],
)
def test_a_name_without_a_sure_sign_has_no_type(name: str) -> None:
    assert find_type_of_name(name) is None


@pytest.mark.parametrize(
    ("predicate", "other", "type"),
    [
        ("is", "city", PLACE),
        ("was", "American novelist and poet", PERSON),
        ("is a town of", "Tessaly", PLACE),
        ("is one of the largest cities in", "Tessaly", PLACE),
        ("is", "city council", ORGANISATION),
        ("était", "ville française", PLACE),
        ("ist", "Fluss in Tessaly", PLACE),
        ("was born in", "Marrowby", PERSON),
        ("is", "Warm", None),
        ("was founded by", "novelist", None),
        ("is not", "city", None),
        ("is", "member of the city", None),
        ("is", "city " * 1_000, None),
    ],
)
def test_a_fact_says_what_its_subject_is(predicate: str, other: str, type: EntityType | None) -> None:
    assert find_type_of_fact(FactEnd.SUBJECT, predicate, other) is type


def test_a_fact_says_what_its_object_is() -> None:
    assert find_type_of_fact(FactEnd.OBJECT, "is capital of", "Marrowby") is PLACE
    assert find_type_of_fact(FactEnd.OBJECT, "was written by", "Lamps") is PERSON
    assert find_type_of_fact(FactEnd.OBJECT, "is a town of", "Marrowby") is None


def test_a_type_needs_more_than_half_of_the_votes() -> None:
    assert choose_type("Marrowby", []) is None
    assert choose_type("Marrowby", [PLACE]) is PLACE
    assert choose_type("Marrowby", [PLACE, PERSON]) is None
    assert choose_type("Marrowby", [PLACE, PERSON, PLACE]) is PLACE
    assert choose_type("Mary Corvo", [EntityType.WORK]) is PERSON
    assert choose_type("Mary Corvo", [EntityType.WORK] * 2) is None
    assert choose_type("Mary Corvo", [EntityType.WORK] * 3) is EntityType.WORK
    assert choose_type("17.2.1", [ORGANISATION] * 9) is None
    assert choose_type("1984", [EntityType.WORK] * 9) is EntityType.DATE
