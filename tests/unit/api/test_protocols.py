"""What the chat routes make of messages and answers: history, stops, sources, and what of a stream is still to send."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.protocols.asking import OnText, stream_reply
from api.protocols.conversation import read_conversation
from api.protocols.reply import Reply, Source, find_rest, format_block, list_sources, shorten_sources
from api.schemas.ask import convert_answer
from app.services.links import Links
from core.documents import DocumentRef, Span
from core.errors import InvalidInput
from core.ports.chat import Message, Speaker
from core.ports.reasoning import Answer, Citation
from core.trace import Trace


def _turn(speaker: Speaker, content: str) -> Message:
    return Message(speaker=speaker, content=content)


def _source(title: str, marker: int = 1, page: int | None = None, label: str = "") -> Source:
    span = Span(start=0, end=1)
    at: dict[str, Any] = {"url": "http://x/y", "link": None, "page": page, "page_label": label}
    return Source(marker=marker, title=title, span=span, quote="", **at)


def test_the_oldest_turns_of_a_long_conversation_are_left_out() -> None:
    turns = [_turn(Speaker.USER, f"{number} " + "x" * 29_000) for number in range(4)]
    history = read_conversation([*turns, _turn(Speaker.USER, "So?")]).history
    assert [turn.content[0] for turn in history] == ["2", "3"]


def test_system_messages_are_instructions_wherever_they_are() -> None:
    system = [_turn(Speaker.SYSTEM, text) for text in ("A", " B ")]
    read = read_conversation([system[0], _turn(Speaker.ASSISTANT, " "), system[1], _turn(Speaker.USER, "Q")])
    assert (read.instructions, read.history, read.question, len(read.messages)) == ("A\n\nB", (), "Q", 4)
    with pytest.raises(InvalidInput, match="end them with the question"):
        read_conversation([_turn(Speaker.SYSTEM, "A")])


@given(st.text(), st.lists(st.text(min_size=1), min_size=1, max_size=3))
def test_of_a_block_of_sources_the_titles_remain(answer: str, titles: list[str]) -> None:
    block = format_block([_source(title, marker) for marker, title in enumerate(titles, start=1)])
    listed = "; ".join(f"[{marker}] {' '.join(title.split())}" for marker, title in enumerate(titles, start=1))
    assert shorten_sources(answer + block) == f"{answer}\n\nSources: {listed}"


def test_what_a_client_wrote_below_the_heading_is_left_out_and_titles_are_no_markdown() -> None:
    written = shorten_sources("Ada.\n\n**Sources**\n\nx\n1. [no address\n2. [Ada\\_L](http://x), page 2")
    assert written == "Ada.\n\nSources: [2] Ada_L"
    assert shorten_sources("Ada.\n\n**Sources**\n\n" + "1. [" * 10_000) == "Ada."
    block = format_block([_source("[a](javascript:x)\n# <b>*c*", 2, 3, "iv"), _source("One"), _source("One")])
    second = r"2. [\[a\](javascript:x) # \<b\>\*c\*](http://x/y), page 3 (iv)"
    assert block.splitlines()[-2:] == ["1. [One](http://x/y)", second], "a marker has one line"


def test_a_source_is_named_by_its_title_and_what_it_is_part_of() -> None:
    citation = Citation(
        marker=1,
        chunk_id="c",
        document=DocumentRef(id="d", key="7.eml", title="Side letter", metadata={}),
        page=None,
        quote="It was signed.",
        answer_span=Span(start=0, end=4),
        source_span=Span(start=0, end=14),
        part_of="](http://evil) Eve · 2025-04-03",
    )
    answer = Answer(text="Eve. [1]", reasoner="vanilla", citations=(citation,))
    shown = convert_answer(answer, Trace(), Links(""))
    block = format_block(list_sources(shown, "http://x", "mail"))
    assert r"[Side letter · \](http://evil) Eve · 2025-04-03](http://x/v1/" in block
    shown_sources = shorten_sources(answer.text + block)
    assert shown_sources == "Eve. [1]\n\nSources: [1] Side letter · ](http://evil) Eve · 2025-04-03"


def test_another_final_text_follows_what_was_sent() -> None:
    assert find_rest("Ada", "Ada [1].") == (" [1].", 0)
    rest, offset = find_rest("Nobody", "Ada [1].")
    assert ("Nobody" + rest)[offset:] == "Ada [1]."


class _Words:
    """A wire that sends texts as they are."""

    media_type = "text/plain"
    ping = b""

    def begin(self) -> bytes:
        return b""

    def send_text(self, piece: str) -> bytes:
        return piece.encode()

    def end(self, reply: Reply, offset: int) -> Any:
        yield from ()

    def send_error(self, details: dict[str, Any]) -> bytes:
        return str(details["detail"]).encode()


class _Request:
    class url:  # noqa: N801
        path = "/v1/chat/completions"

    async def receive(self) -> dict[str, str]:
        await asyncio.Event().wait()
        return {}


async def _streamed(pieces: list[str], final: str, stops: list[str]) -> str:
    async def work(on_text: OnText) -> Reply:
        for piece in pieces:
            on_text(piece)
            await asyncio.sleep(0)
        ends = [at for stop in stops if (at := final.find(stop)) >= 0]
        return Reply(text=final[: min(ends)] if ends else final)

    request: Any = _Request()
    response = await stream_reply(request, work, _Words(), stops)
    return b"".join([part async for part in response.body_iterator]).decode()  # type: ignore[misc]


@given(
    text=st.text(alphabet="abc ", max_size=30),
    cuts=st.lists(st.integers(1, 4), max_size=20),
    stops=st.lists(st.text(alphabet="abc ", min_size=1, max_size=3), max_size=3),
)
async def test_a_stream_ends_before_the_first_stop_whatever_its_pieces(
    text: str, cuts: list[int], stops: list[str]
) -> None:
    final = text.strip()
    pieces, left = [], text
    for length in [*cuts, len(text)]:
        pieces.append(left[:length])
        left = left[length:]
    ends = [at for stop in stops if (at := final.find(stop)) >= 0]
    said = await _streamed([piece for piece in pieces if piece], final, stops)
    assert said.rpartition("\n\n---\n\n")[2].rstrip() == (final[: min(ends)] if ends else final).rstrip()
