import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.text.query import Clause, Group, Phrase, Term, TextQuery
from stores.lucene_query import encodable, render


def one(clause: Clause) -> str | None:
    return render(TextQuery(should=(clause,)))


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        (Term(text="fox"), "fox"),
        (Term(text="fox", boost=2.5), "fox^2.500000"),
        (Term(text="fox", boost=0.00001), "fox^0.000010"),
        (Term(text="fox_2"), "fox_2"),
        (Term(text="AND"), "and"),
        (Term(text="NOT", boost=2), "not^2.000000"),
        (Term(text="And"), "And"),
        (Term(text="new york"), '"new york"'),
        (Term(text="x AND y"), '"x AND y"'),
        (Term(text="日本語"), '"日本語"'),
        (Term(text="हिन्दी"), '"हिन्दी"'),
        (Term(text="it's"), '"it\'s"'),
        (Term(text="C++"), '"C++"'),
        (Term(text='say "hi" \\ there'), '"say \\"hi\\" \\\\ there"'),
        (Term(text="a\ud800b"), '"a b"'),
        (Phrase(text="big red", slop=2, boost=1.5), '"big red"~2^1.500000'),
        (Phrase(text="big red"), '"big red"'),
        (Phrase(text="big", slop=2), "big"),
        (Group(any=(Term(text="a"), Term(text="b", boost=2)), boost=3), "(a OR b^2.000000)^3.000000"),
        (Group(any=(Term(text="a"), Group(any=(Term(text="b"), Term(text="c"))))), "(a OR (b OR c))"),
        (Group(any=(Term(text="?"), Term(text="b"))), "(b)"),
    ],
)
def test_clauses(clause: Clause, expected: str):
    assert one(clause) == expected


@pytest.mark.parametrize("text", ["", "  ", "...", '"', "\\", "🙂", "\ud800", "\u200d", "\x00"])
def test_a_clause_without_a_word_is_left_out(text: str):
    for nothing in (Term(text=text), Phrase(text=text), Group(any=(Term(text=text),)), Group(any=())):
        assert one(nothing) is None
        assert render(TextQuery(must=(nothing, Term(text="a")), must_not=(nothing,))) == "+a"


def test_must_should_and_must_not():
    query = TextQuery(should=(Term(text="s"),), must=(Term(text="m n"),), must_not=(Group(any=(Term(text="x"),)),))
    assert render(query) == '+"m n" s -(x)'


def test_only_excluding_is_nothing():
    assert render(TextQuery(must_not=(Term(text="x"),))) is None
    assert render(TextQuery()) is None


def test_boosts_and_slops_that_are_none_are_refused():
    for boost in (-1.0, math.nan, math.inf, 1e9):
        with pytest.raises(InvalidInput, match="boost"):
            one(Term(text="a", boost=boost))
    for slop in (-1, 100_000):
        with pytest.raises(InvalidInput, match="slop"):
            one(Phrase(text="a b", slop=slop))


@given(text=st.text(alphabet=st.one_of(st.characters(exclude_categories=()), st.sampled_from('"\\ aA:^~()*'))))
def test_user_text_never_leaves_its_quotes(text: str):
    rendered = one(Term(text=text))
    if rendered is None or not rendered.startswith('"'):
        assert rendered is None or rendered.isalnum() or "_" in rendered
        return
    assert rendered.endswith('"')
    inside, escaped = [], False
    for char in rendered[1:-1]:
        assert escaped or char != '"'
        escaped = not escaped and char == "\\"
        if not escaped:
            inside.append(char)
    assert not escaped, "the closing quote is escaped"
    assert "".join(inside) == encodable(text)
    rendered.encode()
