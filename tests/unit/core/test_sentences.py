"""Sentences as they are quoted: titles, abbreviations, brackets and marks do not cut them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.sentences import segment, split_sentences


def cut(text: str) -> list[str]:
    return [text[a:b].strip() for a, b in split_sentences(text)]


@pytest.mark.parametrize(
    "sentences",
    [
        "Where Does It Hurt? was directed by Rod Amateau. |It is a film.",
        "Panic! at the Disco is a band. |They sing.",
        '"What\'s Up?" was sung. |“Bar” is another.',
        "It starts around 6 pm. and lasts. |He left.",
        "Shri. Modi came. |He spoke for long.",
        "It was 81 in. [nb 9]",
        "He died here (1931 - 10 -\n12) |Spouse Ann",
        "He ruled (until\n30) and died. |She wept.",
        "Er war da（bis\n3）。 |Sie kam.",
        "Items\n|- one\n|- two\n|3. three",
        "He asked (why?\n\n|New paragraph) here.",
        "hello there. |how are you. |fine thanks.",
        "你好吗?|我很好。|再见！",
        "Кто там пришёл? |Это я. Входи.",
        "هذا نص. |هل تعرف؟ |نعم!",
        "2025-03-10T00:00:00Z ERROR [store] failed\n  at store.write\n|2025-03-10T01:01:07Z INFO kept",
        "[    0.000000] eth0: link up\n|[   12.370000] sda2: mounted",
        "Mar  1 06:25:01 host cron: run\n|Mar 10 06:25:02 host sshd: on",
        '::1 - ada [10/Mar/2025:10:00:00 +0100] "GET /"\n|::1 - ada [10/Mar/2025:10:00:01 +0100] "GET /a"',
        "We met in the year\n2025 and in March\n10 days later.",
        "Der Umsatz stieg auf 156,8 Mio. EUR im Jahr. |Es waren 5 Mio. |Die Zahl sank.",
    ],
)
def test_a_text_is_cut_at_its_bars_alone(sentences: str) -> None:
    assert cut(sentences.replace("|", "")) == [sentence.strip() for sentence in sentences.split("|")]


def test_an_empty_text_has_no_sentence() -> None:
    assert cut(" \n\n ") == cut("") == []


@given(st.text(st.characters(codec="utf-8")) | st.text(alphabet="Aa. .\u2028\u3000\x85é中()[]\"'?!1\r\n", max_size=80))
def test_they_are_the_pieces_of_chunks_joined(text: str) -> None:
    ranges, pieces = split_sentences(text), segment(text)
    assert all(a < b for a, b in ranges)
    assert all(one[1] <= following[0] for one, following in pairwise(ranges))
    kept, there = ("".join(text[a:b] for a, b in found) for found in (ranges, pieces))
    assert kept == there
    assert len(ranges) <= len(pieces)


@pytest.mark.parametrize("text", ["Yes? no. " * 20_000, "(" * 100_000, "A (b? " * 20_000 + ")", "x. " * 60_000])
def test_no_sentence_grows_without_end(text: str) -> None:
    assert max(b - a for a, b in split_sentences(text)) <= 3000
