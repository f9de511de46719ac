"""Rules of access: which principals a key gets, and what is no rule."""

from pathlib import Path

import pytest

from core.documents import Submission
from core.errors import InvalidInput, NotFound
from indexer import NO_RULES, Rejection, read_access_rules

_RULES = """
"*" = ["group:staff"]
"legal/" = ["user:anna", "group:legal"]   # and those below
"legal/**/*.md" = []
"*.public.txt" = ["group:all staff"]
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    (tmp_path / "access.toml").write_text(_RULES)
    return tmp_path / "access.toml"


@pytest.mark.parametrize(
    ("key", "access"),
    [
        ("a.txt", ("group:staff",)),
        ("legal/a.txt", ("group:legal", "user:anna")),
        ("legal/deep/a.txt", ("group:legal", "user:anna")),
        ("old/legal/a.txt", ("group:legal", "user:anna")),
        ("legal/deep/a.md", ()),
        ("legal/a.public.txt", ("group:all staff",)),
        ("illegal/a.txt", ("group:staff",)),
    ],
)
def test_the_last_pattern_that_matches_counts(rules: Path, key: str, access: tuple[str, ...]) -> None:
    assert read_access_rules(rules, ["group:other"]).find(key) == access


def test_what_no_pattern_matches_has_the_principals_of_the_option(tmp_path: Path) -> None:
    (tmp_path / "access.toml").write_text('"legal/" = ["group:legal"]')
    assert read_access_rules(tmp_path / "access.toml", None).find("a.txt") is None
    assert read_access_rules(tmp_path / "access.toml", ["group:other"]).find("a.txt") == ("group:other",)
    assert read_access_rules(None, ["user:b", "group:a"]).find("a.txt") == ("group:a", "user:b")


def test_rules_replace_what_a_document_names(rules: Path) -> None:
    own = Submission(key="legal/a.txt", content=b"", media_type="text/plain", access=("user:own",))
    rejection = Rejection(source="b", reason="broken")
    assert list(NO_RULES.apply([own, rejection])) == [own, rejection]
    found, _ = read_access_rules(rules, None).apply([own, rejection])
    assert isinstance(found, Submission)
    assert found.access == ("group:legal", "user:anna")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"*" = "group:a"', "'*' is a list of principals"),
        ('"*" = ["legal"]', "'legal' is no principal"),
        ('"!a" = ["group:a"]', "'!a' is no pattern"),
        ('"" = ["group:a"]', "'' is no pattern"),
        ('"*" = [', "cannot be read as rules in TOML"),
        ("\n".join(f'"{n}" = []' for n in range(10_001)), "has 10,001 rules; at most 10,000"),
        ("[legal]\na = []", "'legal' is a list of principals"),
    ],
)
def test_what_is_no_rule_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "access.toml").write_text(text)
    with pytest.raises(InvalidInput) as refused:
        read_access_rules(tmp_path / "access.toml", None)
    assert message in str(refused.value)


def test_a_missing_file_of_rules_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        read_access_rules(tmp_path / "none.toml", None)
