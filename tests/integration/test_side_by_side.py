"""What `make` runs at the same time: one that fails is seen, whatever the others do."""

import subprocess
import sys

from tests.side_by_side import CLOSING_LINES

FIRST_SHOWN = 4
PRINT = f"{sys.executable} -c 'for n in range({CLOSING_LINES + FIRST_SHOWN}): print(\"line\", n)'"
FAIL = f"{sys.executable} -c 'import sys; print(\"why\"); print(*range(20), sep=chr(10)); sys.exit(3)'"


def run(*commands: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "tests.side_by_side", *commands]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_closing_lines_are_shown_and_a_line_for_each() -> None:
    ran = run(f"first={PRINT}", f"second={PRINT}")
    assert ran.returncode == 0, ran.stderr
    assert f"=== first\nline {FIRST_SHOWN}\n" in ran.stdout
    assert [line.split(" in ")[0] for line in ran.stdout.splitlines()[-2:]] == ["first: passed", "second: passed"]


def test_one_that_fails_is_shown_whole_and_fails_all() -> None:
    ran = run(f"first={FAIL}", f"second={PRINT}")
    assert ran.returncode == 1
    assert "=== first\nwhy\n0\n" in ran.stdout
    told = [line.split(" in ")[0] for line in ran.stdout.splitlines()[-2:]]
    assert told == ["first: FAILED with 3", "second: passed"]


def test_what_is_no_command_is_refused() -> None:
    assert run("nothing").returncode == 2
    assert run().returncode == 2
