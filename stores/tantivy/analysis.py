"""The analyzer, which splits text into tokens, and the schema of the index."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tantivy import Schema, TextAnalyzer


TOKENIZER = "hopweave_words"

_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\x{30FC}\x{FF70}"
"""Scripts without spaces: each character is a token. The two code points are long-vowel marks, which have no script."""

_PATTERN = "|".join(
    [
        rf"[{_CJK}]\p{{M}}*",
        r"\p{Hangul}[\p{Hangul}\p{M}]*",
        # Marks belong to words (vowel signs, harakat, tones), and so do the joiners within Persian and Hindi words.
        rf"[\p{{L}}\p{{M}}\p{{N}}_--{_CJK}\p{{Hangul}}][\p{{L}}\p{{M}}\p{{N}}_\p{{Join_Control}}--{_CJK}\p{{Hangul}}]*",
    ]
)


def analyzer() -> "TextAnalyzer":
    """Makes the analyzer: lower case, no stemmer, no stop words. Each process registers it with an index it opens."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    return TextAnalyzerBuilder(Tokenizer.regex(_PATTERN)).filter(Filter.lowercase()).build()


def make_schema() -> "Schema":
    """Makes the schema. Text is indexed and not stored, because the record stores it."""
    from tantivy import SchemaBuilder

    builder = SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("document_id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", tokenizer_name=TOKENIZER, index_option="position")
    return builder.build()
