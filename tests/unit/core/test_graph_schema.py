"""Schemas of a corpus' graph: what `schema.toml` may say, what it refuses and where, types, relations and fits."""

import pytest

from core.errors import InvalidInput
from core.graph import Fit
from core.graph_schema import MAX_BYTES, StatedFact, read_graph_schema
from core.text.entity_types import FactEnd

CONTRACTS = """
strict = true

[types.company]
description = "A party"
words = ["supplier", "buyer"]
names = ["Northwind"]
includes = ["organisation"]
colour = "#3366CC"

[types.contract]
words = ["agreement", "purchase order"]

[types.product]
words = ["pump", "valve"]

[relations.supplies]
from = ["company"]
to = ["product"]
synonyms = ["delivers", "shall provide"]
inverse = ["supplied by"]

[relations.governs]
from = ["contract"]
"""


def _fact(phrase: str, other: str = "x", end: FactEnd = FactEnd.SUBJECT) -> StatedFact:
    return StatedFact(end=end, phrase=phrase, other=other)


@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        ("supplies", ("supplies", False)),
        ("Supplied", ("supplies", False)),
        ("has supplied", ("supplies", False)),
        ("shall deliver", ("supplies", False)),
        ("provided", ("supplies", False)),
        ("is supplied by", ("supplies", True)),
        ("were supplied by", ("supplies", True)),
        ("may supply", None),
        ("did not supply", None),
        ("was supplied", None),
        ("buys", None),
        ("", None),
        ("supplies " * 100, None),
    ],
)
def test_phrases_state_relations(phrase: str, found: tuple[str, bool] | None) -> None:
    relation = read_graph_schema(CONTRACTS).find_relation(phrase)
    assert (relation and (relation[0].name, relation[1])) == found


@pytest.mark.parametrize(
    ("name", "facts", "type"),
    [
        ("NORTHWIND", [], "company"),
        ("Master Supply Agreement", [], "contract"),
        ("Purchase Orders", [], "contract"),
        ("Agreement of the Buyers", [], "contract"),
        ("Pump", [], "product"),
        ("Acme Inc.", [], "company"),
        ("Kestrel", [_fact("is a", "supplier of pumps")], "company"),
        ("Kestrel", [_fact("is the supplier of")], "company"),
        ("Kestrel", [_fact("supplies")], "company"),
        ("P-17", [_fact("supplied by")], "product"),
        ("P-17", [_fact("supplies", end=FactEnd.OBJECT)], "product"),
        ("Kestrel", [_fact("supplies"), _fact("supplied by")], None),
        ("Kestrel", [_fact("was born in")], "person"),
        ("12 May 2020", [_fact("supplies")], "date"),
        ("Kestrel", [], None),
    ],
)
def test_types_of_the_schema_come_first(name: str, facts: list[StatedFact], type: str | None) -> None:
    assert read_graph_schema(CONTRACTS).choose_type(name, facts) == type


def test_a_fact_fits_by_the_types_of_its_ends() -> None:
    schema = read_graph_schema(CONTRACTS)
    assert schema.check("supplies", "company", "product") is Fit.WITHIN
    assert schema.check("supplied by", "product", "company") is Fit.WITHIN
    assert schema.check("supplies", None, None) is Fit.WITHIN, "an end without a type is not known to be wrong"
    assert schema.check("supplies", "product", "company") is Fit.OUTSIDE
    assert schema.check("supplies", "company", "date") is Fit.OUTSIDE
    assert schema.check("governs", "contract", "date") is Fit.WITHIN, "an end without a list takes any type"
    assert schema.check("buys", "company", "product") is Fit.UNNAMED


def test_a_schema_says_what_it_has() -> None:
    schema = read_graph_schema(CONTRACTS)
    assert (schema.strict, schema.types["company"].colour) == (True, "#3366cc")
    assert schema.type_names[:3] == ("company", "contract", "product")
    assert "person" in schema.type_names
    empty = read_graph_schema("")
    assert (empty.strict, empty.types, empty.find_relation("supplies")) == (False, {}, None)
    assert empty.choose_type("Acme Inc.", []) == "organisation"


_IN_HAND = "synonyms=['has in hand']\n[relations.holds]\nsynonyms=['have in hands']"
_MANY = "".join(f"[types.t{n}]\n" for n in range(10_000))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\x00\xff", "the schema is not TOML"),
        ("PK\x03\x04garbage", "the schema is not TOML"),
        (f"x = {'9' * 5_000}", "the schema is not TOML"),
        ("a" + ".a" * 40_000 + " = 1", "line 1: a key has more than 10 dots"),
        ("[a" + ".a" * 40_000 + "]", "line 1: a key has more than 10 dots"),
        ("x = {a = 1, a" + ".a" * 40_000 + " = 1}", "line 1: a key has more than 10 dots"),
        ("x = " + "[" * 5_000, "line 1: lists are nested more than 10 deep"),
        ("x = " + "{a=" * 5_000, "line 1: lists are nested more than 10 deep"),
        ("# " + "x" * MAX_BYTES, "at most 100,000 are allowed"),
        (_MANY[:99_990].rpartition("[")[0], r"\d,\d+ types, and at most 200 are allowed"),
        (_MANY, "at most 100,000 are allowed"),
        ("[types.a]\n\ncolor = '#fff'", r"line 3, \[types.a\]: 'color' is not a key here; allowed are description, w"),
        ("strict = 1", "line 1: strict is true or false"),
        ("[type.a]", "line 1: 'type' is not a key here; allowed are strict, types, relations"),
        ("types = 3", "line 1: types are tables"),
        ("[types]\na = 3", r"line 2, \[types.a\]: a is a table"),
        ("[types.a]\ncolour = 'red'", "line 2, .*'red' is not a colour such as '#3366cc'"),
        ("[types.a]\ncolour = '#aabbcc;x:y'", "is not a colour"),
        ("[types.a]\nwords = 'x'", "line 2, .*words is a list"),
        (f"[types.a]\nwords = {['x'] * 501}", "line 2, .*words is a list of at most 500 texts"),
        (f"[types.a]\nnames = ['{'x' * 201}']", "an entry of names is not a text of 1 to 200 characters"),
        ("".join(f"[relations.r{n}]\n" for n in range(501)), "501 relations, and at most 500 are allowed"),
        ("[types.a]\nwords = ['']", "an entry of words is not a text"),
        ("[types.a]\nwords = ['a b c d e']", "has not 1 to 4 words"),
        ("[types.a]\nwords = ['-']", "has not 1 to 4 words"),
        ("[types.a]\nincludes = ['b']", "there is no type 'b'; there are person, organisation"),
        ("[types.'a`) DETACH DELETE (n']", "line 1, .*is not a name: use 1 to 40"),
        ("[types.'<script>']", "is not a name"),
        ("[relations.A]", "is not a name"),
        ("[types.a]\nwords=['x']\n[types.b]\nwords=['X']", r"line 4, \[types.b\]: the word 'X' is of the type 'a'"),
        ("[types.a]\nnames=['x']\n[types.b]\nnames=['X']", "the name 'X' is of the type 'a'"),
        ("[types.a]\nincludes=['law']\n[types.b]\nincludes=['law']", "the type 'law' is of the type 'a'"),
        ("[relations.a]\nfrom = ['b']", r"line 2, \[relations.a\]: there is no type 'b'; there are person"),
        ("[relations.owns]\nsynonyms=['holds']\n[relations.holds]", "line 2, .*'holds' is of the relation 'holds'"),
        (f"[relations.owns]\n{_IN_HAND}", "line 4, .*'have in hands' is of the relation 'owns' already"),
        ("[relations.owns]\nsynonyms=['x']\ninverse=['x']", "line 3, .*of the relation 'owns' in the other direction"),
        ("[relations.owns]\ninverse=['owns']", "of the relation 'owns' in the other direction"),
        ("[relations.a]\nsynonyms=['...']", "has no words"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_graph_schema(text)
