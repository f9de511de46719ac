"""Addresses in the web page."""

from api.schemas.ask import convert_quote
from app.services.links import Links
from core.documents import Chunk, DocumentRef, Span
from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from core.settings import ApiSettings, Settings


def test_a_link_names_the_corpus_the_document_and_the_chunk() -> None:
    for given in ("https://search.example", "https://search.example/"):
        links = Links.of(Settings(api=ApiSettings(public_url=given)))
        assert links.to("people", "d0", "c1") == "https://search.example/c/people/documents/d0?chunk=c1"
        assert links.to("people", "d0") == "https://search.example/c/people/documents/d0"
        assert links.to("", "d0", "c1") is None, "a passage of the web is in no corpus"
    quoted = "https://search.example/c/a%2Fb/documents/..%2Fc?chunk=d%26e%3Df%23g"
    assert links.to("a/b", "../c", "d&e=f#g") == quoted, "what an id holds stays in its place"
    assert Links.of(Settings()).to("people", "d0", "c1") is None, "there is no public address"


def test_a_quote_of_a_step_has_one() -> None:
    text, span = "It is so.", Span(start=0, end=9)
    chunk = Chunk(id="c1", document_id="d0", view_id="", position=0, text=text, heading="", page=None, span=span)
    document = DocumentRef(id="d0", key="so", title="So", metadata={})
    hit = Hit(chunk=chunk, document=document, score=1.0, corpus="people")
    said = convert_quote(Quote(hit=hit, text=text, span=span), Links("https://search.example"))
    assert said.link == "https://search.example/c/people/documents/d0?chunk=c1"
