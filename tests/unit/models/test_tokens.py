import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.errors import InvalidSettings
from models import SentenceTransformersEmbedder
from models.embedding import tokens as tokens_module
from models.embedding.tokens import EstimatedTokens, TokenizerTokens, open_tokenizer, read_max_tokens

PROSE = [
    "The Journal of Mathematical Physics is a peer-reviewed journal published monthly since January 1960.",
    "Journalism:\n\n- 24 hours;\n- 7 days.\n\n\tdef main(argv: list[str]) -> int: return len(argv[1:])",
    "北京是中华人民共和国的首都。東京は日本の首都である。",
    "서울은 대한민국의 수도이다",
    "القاهرة عاصمة مصر، أعرفها.",
    "Кто написал «Войну и мир»?",
    "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย",
    "Die Straße führt nach Köln.",
]


@pytest.mark.parametrize("text", PROSE)
def test_the_estimate_is_not_below_what_a_tokenizer_counts(text: str):
    (estimate,) = EstimatedTokens(512).count([text])
    (counted,) = SentenceTransformersEmbedder().tokens.count([text])
    assert counted <= estimate <= len(text.encode())


_COUNTS = {
    "": 0,
    " \t": 0,
    "four": 1,
    "fives": 2,
    "a b": 2,
    "1234": 4,
    "é": 1,
    "京都": 4,
    "서울": 6,
    "😀": 3,
    "\ud800": 1,
}


def test_the_estimate_says_what_it_counts():
    assert EstimatedTokens(512).count(list(_COUNTS)) == list(_COUNTS.values())


def test_a_broken_tokenizer_is_named_and_a_folder_may_have_none(tmp_path: Path):
    assert open_tokenizer(tmp_path) is None
    assert read_max_tokens(tmp_path) is None
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InvalidSettings, match=r"tokenizer\.json cannot be read"):
        open_tokenizer(tmp_path)


def test_what_the_model_reads_is_said_by_the_nearest_file(tmp_path: Path):
    (tmp_path / "config.json").write_text(json.dumps({"max_position_embeddings": 514}))
    assert read_max_tokens(tmp_path) == 514
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 512}))
    assert read_max_tokens(tmp_path) == 512
    (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 256}))
    assert read_max_tokens(tmp_path) == 256


def test_many_long_texts_are_counted_in_parts():
    texts = ["".join(PROSE) * 1_500, "one two", "".join(PROSE) * 1_500, "", "three"]
    counts = SentenceTransformersEmbedder().tokens.count(texts)
    assert (counts[1], counts[3], counts[4]) == (2, 0, 1)
    assert counts[0] == counts[2] > 100_000


class CountingTokenizer:
    """A token a word, with a count of the texts that it was given."""

    given = 0

    def no_truncation(self) -> None: ...

    def no_padding(self) -> None: ...

    def encode_batch_fast(self, texts: Sequence[str], *, add_special_tokens: bool) -> list[list[str]]:
        assert not add_special_tokens
        self.given += len(texts)
        return [text.split() for text in texts]


def test_a_text_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens_module, "_REMEMBERED", 4)
    tokenizer: Any = CountingTokenizer()
    tokens = TokenizerTokens(lambda: (tokenizer, 100))
    assert tokens.count(["a", "b b", "a", "\ud800 c d"]) == [1, 2, 1, 3]
    assert tokens.count(["b b", "a"]) == [2, 1]
    assert tokenizer.given == 3
    assert tokens.count(["1 2", "3", "4"]) == [2, 1, 1]  # they make the second generation
    assert tokens.count(["a", "b b"]) == [1, 2]  # of the first, and now of the second
    assert tokenizer.given == 6
    assert tokens.count(list("uvwxyz")) == [1] * 6  # too many to be remembered
    assert tokens.count([]) == []
    assert len(tokens._known) <= 4
