"""Wrong usage: one line that names the option and what is allowed."""

import io

import pytest

from tests.integration.cli.conftest import Hopweave

STATES = "'queued', 'running', 'paused', 'done', 'failed', 'cancelled'"


@pytest.mark.parametrize(
    ("arguments", "message", "command"),
    [
        (
            ("search", "a", "-c", "p", "--group-by", "chapter"),
            "Invalid value for '--group-by': 'chapter' is not one of 'document'",
            "search",
        ),
        (
            ("jobs", "list", "--state", "over"),
            f"Invalid value for '--state': 'over' is not one of {STATES}",
            "jobs list",
        ),
        (
            ("documents", "list", "-c", "p", "--limit", "0"),
            "Invalid value for '--limit': 0 is not greater than or equal to 1",
            "documents list",
        ),
        (("search", "a", "-c", "p", "-k", "many"), "Invalid value for '-k': 'many' is not a whole number", "search"),
        (
            ("ingest", ".", "-c", "p", "--poll", "often"),
            "Invalid value for '--poll': 'often' is not a number",
            "ingest",
        ),
        (("eval", "set", "--limit", "all"), "Invalid value for '--limit': 'all' is not a whole number", "eval"),
        (("search", "a"), "Missing option '--corpus' / '-c'", "search"),
    ],
)
def test_one_line_names_the_option_and_what_is_allowed(
    hopweave: Hopweave, arguments: tuple[str, ...], message: str, command: str
) -> None:
    ran = hopweave(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"hopweave: {message}; see `hopweave {command} --help`\n"


def test_a_group_without_a_command_shows_its_help(hopweave: Hopweave) -> None:
    ran = hopweave("jobs")
    assert ran.code == 2
    assert "List, show, cancel and resume jobs." in ran.out + ran.err


def test_what_is_not_confirmed_is_not_done(hopweave: Hopweave, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hopweave("corpora", "create", "p").code == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    ran = hopweave("corpora", "delete", "p")
    assert ran.code == 1
    assert ran.err.endswith("hopweave: stopped, as it was not confirmed; nothing was done\n")
    assert len(hopweave("corpora", "list", "--json").json["data"]) == 1
