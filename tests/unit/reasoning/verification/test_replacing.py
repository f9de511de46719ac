"""What replaces a masked document, and which documents are masked together."""

from reasoning.verification.verifier import find_replacements, form_groups
from tests.unit.reasoning.verification.given import cited, located


def _keys(*documents: str) -> frozenset[tuple[str, str]]:
    return frozenset(("people", one) for one in documents)


def _replaced(*after: object, before: tuple[object, ...] = ()) -> list[str]:
    ada = cited("ada", "ada lovelace")
    found = find_replacements(ada, (ada, *before), after)  # type: ignore[arg-type]
    return [one.document.key for one in found]


def test_a_new_document_for_the_same_place_replaces_it() -> None:
    copy, other = cited("copy", "ada lovelace"), cited("other", "london")
    assert _replaced(other, copy) == ["copy"]


def test_else_a_new_document_does() -> None:
    later = cited("later", "1815")
    assert _replaced(later, cited("copy", "the author"), before=(later,)) == ["copy"]


def test_else_one_that_was_cited_for_the_same_place() -> None:
    same, other = cited("same", "ada lovelace"), cited("other", "1815")
    assert _replaced(other, same, before=(same, other)) == ["same"]


def test_else_all_that_are_cited_now() -> None:
    one, two = cited("one", "x"), cited("two", "y")
    assert _replaced(one, two, before=(one, two)) == ["one", "two"]
    assert _replaced() == []


def test_documents_that_replace_each_other_are_one_group() -> None:
    replaced = {
        ("people", "a"): [located("b")],
        ("people", "b"): [located("a")],
        ("people", "c"): [located("d")],
        ("people", "e"): [located("f"), located("c")],
    }
    assert form_groups(replaced, ()) == [_keys("a", "b"), _keys("c", "d", "e", "f")]


def test_a_needed_document_is_in_no_group() -> None:
    replaced = {("people", "a"): [located("needed")], ("people", "b"): [located("needed"), located("c")]}
    assert form_groups(replaced, _keys("needed")) == [_keys("b", "c")]


def test_a_document_of_another_corpus_with_the_same_id_is_another_document() -> None:
    assert form_groups({("people", "a"): [located("a", "other")]}, ()) == [frozenset({("people", "a"), ("other", "a")})]
