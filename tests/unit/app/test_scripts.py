"""Which scripts the built-in model reads."""

import pytest

from app.services.scripts import find_unread_scripts
from core.ports.embedding import TokenCounter
from core.settings import EmbeddingSettings
from models import make_embedder

ENGLISH = "The quick brown fox jumped over the lazy dog and ran into the forest. " * 10
OTHERS = {
    "CYRILLIC": "Москва столица России, в ней жил Лев Толстой. " * 10,
    "CJK": "北京大学位于北京。《红楼梦》的研究在这里很有名。" * 20,
    "ARABIC": "القاهرة هي عاصمة مصر وأكبر مدنها. " * 20,
    "THAI": "กรุงเทพมหานครเป็นเมืองหลวง " * 20,
    "HANGUL": "서울은 대한민국의 수도이다. " * 40,
}


@pytest.fixture(scope="module")
def tokens() -> TokenCounter:
    return make_embedder(EmbeddingSettings()).tokens


def test_latin_letters_are_read_with_their_marks(tokens: TokenCounter):
    assert find_unread_scripts([ENGLISH, "København ligger på Sjælland og Amager. " * 10], tokens) == []


@pytest.mark.parametrize("script", OTHERS)
def test_other_scripts_are_not(tokens: TokenCounter, script: str):
    assert find_unread_scripts([ENGLISH, OTHERS[script]], tokens) == [script]


def test_a_name_here_and_there_is_no_script_of_the_corpus(tokens: TokenCounter):
    assert find_unread_scripts([ENGLISH, "Москва"], tokens) == []
