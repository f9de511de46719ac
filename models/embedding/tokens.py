"""Counts or estimates the tokens of a text for the embedding model."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InvalidSettings
from models.embedding.weights import read_json

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class TokenizerTokens:
    """Counts with the model's tokenizer. `open` returns it and the model's maximum of tokens, and is called once.

    The maximum of a text is less by the tokens of the `prefix` that every passage gets.
    """

    def __init__(self, open: Callable[[], "tuple[Tokenizer, int]"], *, prefix: str = "") -> None:
        self._open = open
        self._prefix = prefix
        self._known: dict[bytes, int] = {}
        self._known_before: dict[bytes, int] = {}

    @cached_property
    def max_tokens(self) -> int:
        tokenizer, reads = self._opened
        taken = len(tokenizer.encode(self._prefix, add_special_tokens=False)) if self._prefix else 0
        return max(1, reads - tokenizer.num_special_tokens_to_add(is_pair=False) - taken)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Remembers the last counts by the hash of the text: most of a new revision of a document is the same."""
        known, before = self._known, self._known_before
        keys = [_hash(text) for text in texts]
        missing: dict[bytes, str] = {}
        counts: dict[bytes, int] = {}
        for key, text in zip(keys, texts, strict=True):
            count = known.get(key)
            if count is None:
                count = before.get(key)
            if count is None:
                missing[key] = text
            else:
                counts[key] = count
        counts.update(zip(missing, self._count(list(missing.values())), strict=True))
        self._remember(counts)
        return [counts[key] for key in keys]

    def _count(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        tokenizer, _ = self._opened
        counts: list[int] = []
        for part in _split_by_length(texts):
            counts += map(len, tokenizer.encode_batch_fast(part, add_special_tokens=False))
        return counts

    def _remember(self, counts: dict[bytes, int]) -> None:
        """Keeps two generations, so that a text that is used again stays. Threads may lose each other's counts."""
        if len(self._known) + len(counts) > _REMEMBERED:
            self._known_before, self._known = self._known, {}
        if len(counts) <= _REMEMBERED:
            self._known.update(counts)

    def unknown(self, texts: Sequence[str]) -> list[int] | None:
        if not texts:
            return []
        tokenizer, _ = self._opened
        unknown = {tokenizer.token_to_id(token) for token in _UNKNOWN} - {None}
        encodings = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [sum(id in unknown for id in encoding.ids) for encoding in encodings]

    @cached_property
    def _opened(self) -> "tuple[Tokenizer, int]":
        tokenizer, reads = self._open()
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer, reads


_REMEMBERED = 1 << 16
"""Counts that are remembered, and as many again of the generation before: some 10 MB."""


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


_TOGETHER = 250_000
"""Characters that are counted at once. An encoding takes some hundred bytes for each token."""


def _split_by_length(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yields the texts in parts of about as many characters."""
    part: list[str] = []
    length = 0
    for text in texts:
        if part and length + len(text) > _TOGETHER:
            yield part
            part, length = [], 0
        part.append(text)
        length += len(text)
    if part:
        yield part


_UNKNOWN = frozenset({"[UNK]", "<unk>", "<UNK>"})  # as the tokenizers in use write it


class EstimatedTokens:
    """Estimates tokens for endpoints, whose tokenizer is not available: rather too many than too few, in any script.

    Four ASCII letters of a word count as a token, as does every digit, sign and line break. A character outside ASCII
    counts one less than its bytes in UTF-8 (one in Greek, Cyrillic or Arabic, two in Chinese or Thai, three for an
    emoji); Hangul counts all three, because some tokenizers split its syllables. Tokenizers in use stay below that for
    prose; random letters can exceed it.
    """

    def __init__(self, max_tokens: int, *, prefix: str = "") -> None:
        self._max_tokens = max(1, max_tokens - _estimate(prefix))

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    def count(self, texts: Sequence[str]) -> list[int]:
        return [_estimate(text) for text in texts]

    def unknown(self, texts: Sequence[str]) -> None:
        """Returns None: the tokenizer is not available."""


_LETTERS_PER_TOKEN = 4
_WORD = re.compile("[A-Za-z]+")
_SIGN = re.compile(r"[^A-Za-z \t\r]")  # whatever is neither in a word nor between words
_HANGUL = re.compile("[\uac00-\ud7a3]")


def _estimate(text: str) -> int:
    words = sum(-(-len(word) // _LETTERS_PER_TOKEN) for word in _WORD.findall(text))
    signs = sum(max(1, len(sign.encode("utf-8", "replace")) - 1) for sign in _SIGN.findall(text))
    return words + signs + len(_HANGUL.findall(text))


def open_tokenizer(folder: Path) -> "Tokenizer | None":
    """Returns the folder's `tokenizer.json`, or None if there is none. Raises `InvalidSettings` if it is unreadable."""
    from tokenizers import Tokenizer

    file = folder / "tokenizer.json"
    if not file.is_file():
        return None
    try:
        return Tokenizer.from_file(str(file))
    except Exception as error:  # the Rust library raises plain `Exception`
        raise InvalidSettings(f"embedding.model: {file} cannot be read as a tokenizer: {error}") from error


def read_max_tokens(folder: Path) -> int | None:
    """Returns how many tokens, special tokens included, sentence-transformers passes to the model of this folder."""
    own = _positive(folder / "sentence_bert_config.json", "max_seq_length")
    if own is not None:
        return own
    limits = [
        _positive(folder / "tokenizer_config.json", "model_max_length"),
        _positive(folder / "config.json", "max_position_embeddings"),
    ]
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def _positive(file: Path, key: str) -> int | None:
    content: Any = read_json(file)
    value = content.get(key) if isinstance(content, dict) else None
    return value if isinstance(value, int) and value > 0 else None
