"""What an endpoint said, without what it must not repeat."""

import pytest
from pydantic import SecretStr

from models.endpoint_errors import mask_secrets

KEY = SecretStr("sk-secret")
TEXT = 'A passage: Don\'t tell "anyone" of 北京,\nor of the launch code of the silo that was built there.'


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("no luck with sk-secret", "no luck with ***"),
        ("x" * 400, "x" * 300),
        ("x" * 295 + "sk-secret", "x" * 295 + "***"),
        (f"invalid: {TEXT}", ""),
        (f"invalid: {TEXT!r}", ""),
        (f"invalid: {TEXT.encode('unicode_escape').decode()}", ""),
        (f"invalid: {TEXT[12:54]}", ""),
        (f"invalid: {TEXT[12:50]}", f"invalid: {TEXT[12:50]}"),
    ],
)
def test_words_are_shown_short_without_key_and_prompt(words: str, shown: str):
    assert mask_secrets(words, KEY, ["short", TEXT]) == shown


@pytest.mark.parametrize(
    ("key", "words", "shown"),
    [
        (
            "x",
            "Input 'text' expected; the key x (x) of 'context'",
            "Input 'text' expected; the key *** (***) of 'context'",
        ),
        (
            "text",
            "Input 'text' expected; the key x (x) of 'context'",
            "Input '***' expected; the key x (x) of 'context'",
        ),
        ("sk-secret1", "Bearersk-secret1.", "Bearer***."),  # a long key is masked within words
        ("", "no luck", "no luck"),
    ],
)
def test_a_short_key_is_masked_where_it_stands_alone(key: str, words: str, shown: str):
    assert mask_secrets(words, SecretStr(key)) == shown
