import pytest

from core.graph import Extraction, Surface, Triple
from core.text.terms import extract_terms
from stores.record_rows import dump_extraction
from stores.sqlite.packing import pack_extraction, pack_terms, pack_text, unpack_extraction, unpack_terms, unpack_text

LONG = "Ada Lovelace wrote the first program, and Charles Babbage built no machine that could run it. " * 5


@pytest.mark.parametrize("text", ["", "short", "日本語", "a\x00b", LONG, LONG + "हिन्दी" * 50])
def test_texts_come_back(text: str):
    assert unpack_text(pack_text(text)) == text


def test_long_texts_are_shorter_and_short_ones_stay():
    assert len(pack_text(LONG)) < len(LONG) / 3
    assert pack_text("short") == "short"


@pytest.mark.parametrize("text", ["", "one", LONG])
def test_terms_come_back(text: str):
    terms = extract_terms(("A title",) if text else (), text).tobytes()
    assert unpack_terms(pack_terms(terms)) == terms


@pytest.mark.parametrize("payload", ["", "{}", LONG, "日本語", dump_extraction(Extraction())])
def test_extractions_come_back(payload: str):
    assert unpack_extraction(pack_extraction(payload)) == payload


def test_what_extractions_have_in_common_is_not_stored_with_each():
    met, kind = (
        Triple(subject="Ada", predicate="met", object="Bob"),
        Triple(subject="Bob", predicate="is", object="kind"),
    )
    entities = (Surface(form="Ada"), Surface(form="Bob", count=2))
    payload = dump_extraction(Extraction(entities=entities, triples=(met, kind)))
    assert len(pack_extraction(payload)) < 0.6 * len(payload)


def test_an_extraction_of_the_first_release_that_compressed_them_is_read():
    """Their dictionary is part of what data folders hold."""
    packed = bytes.fromhex("ab46b5d7312511d34e43542d60354ab9a92540d2293f09641f00")
    assert unpack_extraction(packed) == '{"entities":[["Ada",2]],"malformed":1,"triples":[["Ada","met","Bob"]]}'
