"""Chains of certificates: each that is changed, moved, left out, or another corpus's is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.record_policy.certificates import HashKey, Secret, digest_line, dump, sign, verify_lines

_SECRET = Secret(b"s" * 32)
_OTHER = Secret(b"o" * 32)


def _chain(id: str, length: int, secret: Secret = _SECRET) -> list[str]:
    lines: list[str] = []
    for number in range(1, length + 1):
        document = {"document": f"{number:064x}", "contents": ["b" * 64], "by": "operatør", "passages": number}
        body = {"corpus": "books", "kind": "documents", "documents": [document], "unknown": ["backups"]}
        previous = digest_line(lines[-1]) if lines else ""
        lines.append(sign(secret, body, chain=id, number=number, previous=previous))
    return lines


_LINES, _STRANGERS = _chain("a" * 32, 5), _chain("b" * 32, 5)
_KEYS = [_SECRET.public_key()]


def test_a_chain_is_verified() -> None:
    [chain] = verify_lines(_LINES, keys=_KEYS, heads=[digest_line(_LINES[-1])])
    assert (chain.id, chain.corpus, len(chain.certificates)) == ("a" * 32, "books", 5)
    assert (chain.keys, chain.head) == (frozenset(_KEYS), digest_line(_LINES[-1]))


def test_files_may_overlap_and_have_several_chains() -> None:
    chains = verify_lines([*_LINES[:3], *_STRANGERS, *_LINES], keys=_KEYS)
    assert [len(chain.certificates) for chain in chains] == [5, 5]


@given(st.data())
def test_a_line_with_any_other_character_is_refused(data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(_LINES) - 1))
    line = _LINES[number]
    at = data.draw(st.integers(0, len(line) - 1))
    put = data.draw(st.characters(exclude_characters=line[at] + "\n", codec="utf-8"))
    changed = data.draw(st.sampled_from([line[:at] + put + line[at + 1 :], line[:at] + line[at + 1 :]]))
    with pytest.raises(InvalidInput):
        verify_lines([*_LINES[:number], changed, *_LINES[number + 1 :]])


@given(st.integers(0, 128), st.sampled_from(" \t"))
def test_a_signature_with_spaces_is_refused(at: int, space: str) -> None:
    whole = json.loads(_LINES[4])
    whole["signature"] = whole["signature"][:at] + space + whole["signature"][at:]
    with pytest.raises(InvalidInput, match="was changed"):
        verify_lines([*_LINES[:4], dump(whole)])


_DOCUMENT = {"document": "a" * 64, "contents": ["b" * 64], "by": "operator"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"documents": {}},
        {"documents": ["a"]},
        {"documents": [{"document": "a" * 64}]},
        {"documents": [{**_DOCUMENT, "document": 1}]},
        {"documents": [{**_DOCUMENT, "contents": "b" * 64}]},
        {"documents": [{**_DOCUMENT, "contents": [["b"]]}]},
    ],
    ids=str,
)
def test_a_signed_certificate_that_names_documents_otherwise_is_refused(body: dict[str, object]) -> None:
    made = sign(_SECRET, {"corpus": "books", "kind": "documents", **body}, chain="a", number=1, previous="")
    with pytest.raises(InvalidInput, match="a field is missing or has another type"):
        verify_lines([made])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"number":1', '"number":1.0'),
        ('"number":1', '"number":true'),
        ('"number":1', '"number":1' + "0" * 5000),
        ('"number":1', '"number":-1'),
        ('"number":1', '"number":2,"number":1'),
        ('"version":1', '"version":0'),
        ('"version":1', '"version":1e0'),
        ('"corpus":"books"', '"corpus":"\\u0062ooks"'),
        ('"corpus":"books"', '"corpus":"bo\\u2028oks"'),
        ('"corpus":"books"', '"corpus": "books"'),
    ],
)
def test_other_ways_to_write_a_value_are_refused(old: str, new: str) -> None:
    assert old in _LINES[0]
    with pytest.raises(InvalidInput):
        verify_lines([_LINES[0].replace(old, new), *_LINES[1:]])


@pytest.mark.parametrize("number", [0, -1, 1 << 70])
def test_a_number_that_the_owner_of_the_key_made_up_leaves_a_gap(number: int) -> None:
    body = {"corpus": "books", "kind": "documents", "documents": []}
    with pytest.raises(InvalidInput, match="certificate 1 is missing"):
        verify_lines([sign(_SECRET, body, chain="a", number=number, previous="")])


def _places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Returns the places of all plain values in JSON."""
    if isinstance(value, dict):
        return [place for key, part in value.items() for place in _places(part, (*path, key))]
    if isinstance(value, list):
        return [place for key, part in enumerate(value) for place in _places(part, (*path, key))]
    return [path]


@pytest.mark.parametrize("place", _places(json.loads(_LINES[1])), ids=str)
def test_any_other_value_is_refused(place: tuple[str | int, ...]) -> None:
    whole = json.loads(_LINES[1])
    inner = whole
    for key in place[:-1]:
        inner = inner[key]
    value = inner[place[-1]]
    inner[place[-1]] = value + 1 if isinstance(value, int) else value[:-1] + ("0" if value[-1:] != "0" else "1")
    with pytest.raises(InvalidInput):
        verify_lines([_LINES[0], dump(whole), *_LINES[2:]])


@given(st.integers(0, 3))
def test_a_certificate_that_is_left_out_is_missed(number: int) -> None:
    with pytest.raises(InvalidInput, match="missing"):
        verify_lines([*_LINES[:number], *_LINES[number + 1 :]])


def test_the_last_certificate_is_missed_by_its_digest() -> None:
    assert len(verify_lines(_LINES[:4])[0].certificates) == 4
    with pytest.raises(InvalidInput, match="is missing"):
        verify_lines(_LINES[:4], heads=[digest_line(_LINES[4])])


@given(st.integers(0, 4))
def test_a_certificate_of_another_corpus_does_not_take_a_place(number: int) -> None:
    with pytest.raises(InvalidInput):
        verify_lines(
            [*_LINES[:number], _STRANGERS[number], *_LINES[number + 1 :], *([] if number < 4 else [_LINES[4]])]
        )


@given(st.integers(0, 4))
def test_certificates_that_the_owner_of_the_key_renumbers_do_not_follow_each_other(number: int) -> None:
    body = json.loads(_LINES[number])["certificate"]
    made = sign(_SECRET, {**body, "corpus": "other"}, chain=body["chain"], number=body["number"], previous="f" * 64)
    with pytest.raises(InvalidInput, match="does not follow"):
        verify_lines([*_LINES[:number], made, *_LINES[number + 1 :]])


def test_a_fork_is_told() -> None:
    body = json.loads(_LINES[4])["certificate"]
    made = sign(_SECRET, {**body, "kind": "corpus"}, chain=body["chain"], number=5, previous=body["previous"])
    with pytest.raises(InvalidInput, match="the chain forks"):
        verify_lines([*_LINES, made])


def test_another_key_is_refused_if_keys_are_given() -> None:
    forged = _chain("a" * 32, 5, _OTHER)
    assert verify_lines(forged)[0].keys == {_OTHER.public_key()}
    with pytest.raises(InvalidInput, match="signed by the key"):
        verify_lines(forged, keys=_KEYS)


def test_an_empty_file_is_no_proof() -> None:
    with pytest.raises(InvalidInput, match="no certificate"):
        verify_lines([])


@pytest.mark.parametrize("line", ["", "[]", "{}", '{"certificate":{},"signature":""}', "[" * 100_000, "1" * 5000])
def test_what_is_no_certificate_is_refused(line: str) -> None:
    with pytest.raises(InvalidInput, match="is no certificate"):
        verify_lines([line])


def test_hashes_depend_on_the_chain_and_on_what_is_hashed() -> None:
    one, two = _SECRET.hash_key("a"), _SECRET.hash_key("b")
    assert one == HashKey(one.hex) != two
    assert len({one.hash_document("x"), one.hash_content("x"), two.hash_document("x")}) == 3
    assert repr(_SECRET) == "Secret()"
