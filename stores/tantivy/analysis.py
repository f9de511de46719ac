"""How text becomes tokens, and which fields an entry has."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tantivy import Schema, TextAnalyzer

__all__ = ["TOKENIZER", "analyzer", "schema"]

TOKENIZER = "hopweave_words"

_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\x{30FC}\x{FF70}"
"""Scripts without spaces, one token a character. The two code points are the long-vowel marks, which no script owns."""

_PATTERN = "|".join(
    [
        rf"[{_CJK}]\p{{M}}*",
        r"\p{Hangul}[\p{Hangul}\p{M}]*",
        # Marks belong to words (vowel signs, harakat, tones), and so do the joiners within Persian and Hindi words.
        rf"[\p{{L}}\p{{M}}\p{{N}}_--{_CJK}\p{{Hangul}}][\p{{L}}\p{{M}}\p{{N}}_\p{{Join_Control}}--{_CJK}\p{{Hangul}}]*",
    ]
)


def analyzer() -> "TextAnalyzer":
    """Lower case, no stemmer, no stop words; every process registers it before it reads or writes an index."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    return TextAnalyzerBuilder(Tokenizer.regex(_PATTERN)).filter(Filter.lowercase()).build()


def schema() -> "Schema":
    """Text is searched and not stored: the record holds it."""
    from tantivy import SchemaBuilder

    builder = SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("document_id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", tokenizer_name=TOKENIZER, index_option="position")
    return builder.build()
