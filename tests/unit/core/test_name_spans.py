"""Names by how they are written."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.name_spans import find_names


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("Who performed Hello Love?", ["Hello Love"]),
        ("The University of the West Indies is in Jamaica.", ["University of the West Indies", "Jamaica"]),
        ("Ludwig van Beethoven met Oscar de la Hoya.", ["Ludwig van Beethoven", "Oscar de la Hoya"]),
        ("She met John and Mary.", ["John", "Mary"]),
        ("The album Born This Way by Lady Gaga.", ["Born This Way", "Lady Gaga"]),
        ("World War 2 and Apollo 11 ended.", ["World War 2", "Apollo 11"]),
        ("In 1990 he left.", []),
        ("J. R. R. Tolkien met Dr. Smith in St. Louis. He left.", ["J. R. R. Tolkien", "Dr. Smith", "St. Louis"]),
        ("It ended in Paris. London was next.", ["Paris", "London"]),
        ("the U.S. and the UN and NASA", ["U.S.", "UN", "NASA"]),
        ("Jean-Luc Godard and O'Brien saw AT&T", ["Jean-Luc Godard", "O'Brien", "AT&T"]),
        ("Hello Love's singer and King’s College", ["Hello Love", "King’s College"]),
        ("C++ beats C# on an iPhone 12", ["C++", "C#", "iPhone 12"]),
        ('He said "all that glitters" to Ann.', ["all that glitters", "Ann"]),
        ("the song 'Hey Jude' isn't Bob's", ["Hey Jude", "Bob"]),
        ("``Big Song,'' he said", ["Big Song"]),
        ("Лев Толстой написал «Войну и мир» в Москве.", ["Лев Толстой", "Войну и мир", "Москве"]),
        ("Ο Νίκος Καζαντζάκης γεννήθηκε στο Ηράκλειο", ["Νίκος Καζαντζάκης", "Ηράκλειο"]),
        ("我用C++写《红楼梦》和Python程序", ["C++", "红楼梦", "Python"]),
        ("「坊っちゃん」は夏目漱石の小説", ["坊っちゃん"]),
        ("Jose\u0301 Martí was born in São Paulo", ["Jose\u0301 Martí", "São Paulo"]),
        ("A", []),
        ("", []),
        ("nothing here 42", []),
    ],
)
def test_the_names_of_a_text(text: str, forms: list[str]) -> None:
    assert [name.form for name in find_names(text)] == forms


@given(
    st.text(alphabet=st.characters(codec="utf-8"), max_size=200)
    | st.text(alphabet="Ab .\"'«»《》of1+#-\n", max_size=200)
)
def test_names_stand_where_they_say_in_order_and_apart(text: str) -> None:
    names = find_names(text)
    assert all(text[name.start : name.end] == name.form and name.form.strip() for name in names)
    assert all(a.end <= b.start for a, b in pairwise(names))


@pytest.mark.parametrize("piece", ["A", "Ab ", "'", "A of ", '"A ', "A.", "a-", "«", "The "])
def test_a_long_text_of_one_kind_is_read_to_its_end(piece: str) -> None:
    """Would take minutes if any of the patterns went back over what it has read."""
    text = piece * (300_000 // len(piece)) + ". Then came Paris"
    assert find_names(text)[-1].form.endswith("Paris")
