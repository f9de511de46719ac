"""Packing: what goes together, what is repeated, and how little the tokenizer is called."""

from collections.abc import Sequence

import pytest

from core.ports.indexing import Block, DraftChunk, LoadedDocument
from core.strategies import StrategySpec, build
from indexer.chunking.embedded_text import embedded_text, embedded_texts, fitted_heads
from testing.contracts.chunker import CharacterTokens, PieceTokens, WordTokens


def chunks_of(document: LoadedDocument, tokens: WordTokens | CharacterTokens, **options: int) -> list[DraftChunk]:
    spec = StrategySpec(name="sentences", options=options)
    chunks: list[DraftChunk] = build("indexer.chunkers", spec, "chunker", None).chunk(document, tokens)
    return chunks


def texts_of(document: LoadedDocument, tokens: WordTokens | CharacterTokens, **options: int) -> list[str]:
    return [chunk.text for chunk in chunks_of(document, tokens, **options)]


def document(*texts: str, title: str = "", heading: tuple[str, ...] = ()) -> LoadedDocument:
    return LoadedDocument(key="k", title=title, blocks=tuple(Block(text=t, heading=heading) for t in texts))


FIVE = "One two three. Four five six. Seven eight nine. Ten eleven twelve. Thirteen fourteen."  # 4 tokens each, and 3


def test_whole_sentences_up_to_the_limit_or_to_a_smaller_one_that_is_chosen() -> None:
    cut = ["One two three. Four five six.", "Seven eight nine. Ten eleven twelve.", "Thirteen fourteen."]
    assert texts_of(document(FIVE), WordTokens(9), overlap_sentences=0) == cut
    assert texts_of(document(FIVE), WordTokens(64), max_tokens=9, overlap_sentences=0) == cut
    assert texts_of(document(FIVE), WordTokens(9), max_tokens=64, overlap_sentences=0) == cut


def test_a_sentence_is_repeated_where_a_quarter_has_room() -> None:
    texts = texts_of(document(FIVE), WordTokens(16), overlap_sentences=1)
    assert texts == [FIVE[: FIVE.index(" Thirteen")], "Ten eleven twelve. Thirteen fourteen."]
    texts = texts_of(document(FIVE), WordTokens(15), overlap_sentences=1)
    assert texts[1].startswith("Ten eleven twelve.")  # a quarter of 15 has no room for 4: nothing is repeated
    assert texts[0].endswith("nine.")


@pytest.mark.parametrize("line", ["Term Debt", "The balances are as follows:", "Die Salden sind wie folgt:"])
def test_a_heading_and_a_line_before_a_list_stay_with_what_follows(line: str) -> None:
    paragraphs = [f"Section {number} has words. It ends with the value {number}." for number in range(40)]
    texts = texts_of(document(f"\n\n{line}\n\n".join(paragraphs)), WordTokens(40))
    assert len(texts) > 10
    assert not [text for text in texts if text.endswith(line)]


@pytest.mark.parametrize("line", ["Cash | Debt", "It ends with 7.", "7"])
def test_other_short_paragraphs_end_chunks(line: str) -> None:
    paragraphs = [f"Section {number} has words. It ends with the value {number}." for number in range(40)]
    texts = texts_of(document(f"\n\n{line}\n\n".join(paragraphs)), WordTokens(40))
    assert [text for text in texts if text.endswith(line)]


def test_title_and_heading_take_of_the_limit_and_leave_half_for_the_text() -> None:
    framed = document(FIVE, title="The title", heading=("A", "B"))  # 2 + 3 tokens
    chunks = chunks_of(framed, WordTokens(13), overlap_sentences=0)
    assert [c.tokens for c in chunks] == [13, 13, 8]
    assert embedded_texts("The title", chunks, WordTokens(13))[2] == "The title\nA › B\nThirteen fourteen."
    title = "word " * 100
    chunks = chunks_of(document(FIVE, title=title), WordTokens(16), overlap_sentences=0)
    assert chunks[0].text == "One two three. Four five six."
    assert embedded_texts(title, chunks, WordTokens(16))[0].startswith("word " * 7 + "word\nOne")


def test_a_long_heading_path_keeps_its_end() -> None:
    heading = " › ".join(f"part{n}" for n in range(50))
    head = fitted_heads("Title", {heading, ""}, WordTokens(32))
    assert head[""] == "Title"
    assert head[heading].startswith("Title\n")
    assert head[heading].endswith("› part49")
    assert WordTokens().count([head[heading]])[0] <= 16


def test_an_overlong_sentence_is_cut_at_clauses_then_words_then_characters() -> None:
    clauses = ["First clause here, second clause there,", "and the third one."]
    assert texts_of(document(" ".join(clauses)), WordTokens(8)) == clauses
    assert [text.count("word") for text in texts_of(document("word " * 12), WordTokens(8))] == [8, 4]
    assert texts_of(document("x" * 40), CharacterTokens(16)) == ["x" * 10] * 4


def test_what_joining_makes_too_long_is_halved() -> None:
    text = "Ab. " * 30
    tokens = PieceTokens(48)
    chunks = chunks_of(document(text), tokens, overlap_sentences=0)
    assert max(c.tokens for c in chunks) <= 48
    assert "".join(c.text for c in chunks).count("Ab.") == 30


def test_a_half_that_only_repeats_is_no_chunk() -> None:
    text = "Dr. Smith went home.             - an item\n- an item\n"
    assert texts_of(document(text), PieceTokens(51)) == ["Dr. Smith went home.", "- an item\n- an item"]


def test_scripts_without_spaces() -> None:
    chinese = "北京是首都。上海是大城市。" * 20
    chunks = chunks_of(document(chinese), WordTokens(26), overlap_sentences=0)
    assert "".join(c.text for c in chunks) == chinese
    assert max(c.tokens for c in chunks) <= 26
    assert len(chunks) <= 16
    thai = "กรุงเทพมหานครเป็นเมืองหลวง" * 20
    assert "".join(texts_of(document(thai), CharacterTokens(40))) == thai


def test_the_tokenizer_is_called_a_few_times_whatever_the_length() -> None:
    calls = []
    for length in (10, 1000):
        tokens = WordTokens(32)
        chunks_of(document(*[FIVE * length] * 3, title="T"), tokens)
        calls.append(tokens.calls)
    assert calls[0] <= calls[1] <= 7


def test_a_block_that_is_far_too_long_is_never_counted_as_a_whole() -> None:
    """The tokens of a book take a hundred times its memory."""

    class Measuring(WordTokens):
        longest = 0

        def count(self, texts: Sequence[str]) -> list[int]:
            self.longest = max(self.longest, *map(len, texts), 0)
            return super().count(texts)

    tokens = Measuring(32)
    assert len(chunks_of(document(FIVE * 2000, "Short."), tokens)) > 1000
    assert tokens.longest < 1000


@pytest.mark.parametrize("text", ["x" * 2000 + " end", "x" * 50_000, "x" * 50_000 + " end", "\u200b" * 50_000 + "x"])
def test_no_chunk_has_more_than_64_characters_for_a_token(text: str) -> None:
    """A word, and any number of invisible characters, may be one token: such a chunk would be shown as a whole."""
    chunks = texts_of(document(text), WordTokens(32))
    assert "".join(chunks).replace(" ", "") == text.replace(" ", "")
    assert max(map(len, chunks)) <= 64 * 33
    assert len(chunks) == 1 or len(text) > 64 * 33


def test_embedded_text_leaves_out_empty_parts() -> None:
    assert embedded_text("T", "", "x") == "T\nx"
    assert embedded_text("", "H", "x") == "H\nx"
    assert embedded_text("", "", "") == ""
    assert embedded_texts("T", [], WordTokens()) == []


TABLE = "Name | Hourly rate\n" + "".join(f"Person{n} | {n}\n" for n in range(40))


def test_a_chunk_that_begins_within_a_table_has_its_header_in_the_heading() -> None:
    text = f"These are our rates.\n{TABLE}\nThat is all."
    chunks = chunks_of(document(text, title="T", heading=("Fees",)), WordTokens(40))
    first, *others = chunks
    assert first.heading == "Fees"
    assert first.text.startswith("These are our rates.\nName | Hourly rate\nPerson0")
    assert len(others) > 3
    assert {chunk.heading for chunk in others if chunk.text.startswith("Person")} == {"Fees › Name | Hourly rate"}
    assert all("Name" not in chunk.text for chunk in others)
    assert max(WordTokens(40).count(embedded_texts("T", chunks, WordTokens(40)))) <= 40


def test_only_rows_below_a_header_have_it_in_their_heading() -> None:
    chunks = chunks_of(document(TABLE), WordTokens(24))
    assert [chunk.heading for chunk in chunks] == ["", *["Name | Hourly rate"] * (len(chunks) - 1)]
    rows = "".join(f"{n} | {n}\n" for n in range(40))
    chunks = chunks_of(document(f"{TABLE}\nThis is prose. {FIVE}", rows, heading=("A",)), WordTokens(24))
    assert {chunk.heading for chunk in chunks if not chunk.text.startswith("Person")} == {"A"}
    rows = "".join(f"Item{n} | {n} | {n}\n" for n in range(40))
    chunks = chunks_of(document(f"2023 | 2022\n{rows}", heading=("A",)), WordTokens(24))
    assert {chunk.heading for chunk in chunks} == {"A"}, "years and dates are put into no heading"
    [chunk] = chunks_of(document(TABLE, heading=("A",)), WordTokens(1000))
    assert (chunk.heading, chunk.text) == ("A", TABLE.strip())


@pytest.mark.parametrize("below", ["+-------+-------+\n", ""])
def test_a_chunk_that_begins_within_a_drawn_table_has_its_header_in_the_heading(below: str) -> None:
    rule = "+-------+-------+\n"
    rows = "".join(f"| Host{n} | Ada{n} |\n{below}" for n in range(40))
    table = f"{rule}| Host | Owner of |\n| name | the host |\n{rule}{rows}{'' if below else rule}"
    chunks = chunks_of(document(f"These are our hosts.\n\n{table}\nThat is all.", heading=("Hosts",)), WordTokens(40))
    within = [chunk for chunk in chunks if chunk.text.startswith("| Host") and "name" not in chunk.text]
    assert len(within) > 3
    assert {chunk.heading for chunk in within} == {"Hosts › Host name | Owner of the host"}
    lines = {line for chunk in chunks for line in chunk.text.splitlines() if "Ada" in line}
    assert lines == {line for line in rows.splitlines() if "Ada" in line}, "no row is cut or lost"
