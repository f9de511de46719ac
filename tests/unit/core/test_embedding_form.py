import pytest

from core.ports.embedding_form import PLAIN, EmbeddingForm, split_form


@pytest.mark.parametrize(
    "form",
    [
        EmbeddingForm(),
        EmbeddingForm(dimension=256),
        EmbeddingForm(query="query: ", passage="passage: ", dimension=8),
        EmbeddingForm(query="Instruct: Given a question?\nQuery:", passage=""),
        EmbeddingForm(dot=2.5),
        EmbeddingForm(query="", passage="p: ", dimension=8, dot=1e-05),
        EmbeddingForm(query="检索：&=%+#", passage="a?query=b"),
    ],
)
def test_a_name_with_a_form_is_split_again(form: EmbeddingForm):
    assert split_form(f"org/model:v1{form.suffix}") == ("org/model:v1", form)


def test_the_suffix_is_readable():
    assert EmbeddingForm(query="query: ", passage="passage: ").suffix == "?query=query:%20&passage=passage:%20"


@pytest.mark.parametrize(
    "name",
    [
        *("m", "what?", "m?x=1", "m?dimension=all", "m?dimension=0", "m?dot=0", "m?dot=inf", "m?dot=nan", "m?dot=-1"),
        *("m?dot=far", "m?dot=1&dot=2", "m?query=a&query=b", "?dimension=8"),
    ],
)
def test_a_question_mark_that_no_form_follows_is_part_of_the_name(name: str):
    assert split_form(name) == (name, EmbeddingForm())


def test_a_form_is_told_in_words():
    form = EmbeddingForm(query="query: ", passage="", dimension=8)
    assert form.describe() == "query prefix 'query: ', cut to 8 dimensions"
    assert EmbeddingForm(dot=2.5).describe() == "dot product of vectors up to length 2.5"
    assert PLAIN.describe() == ""
