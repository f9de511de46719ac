"""The script of the page on certificates verifies what `hopweave certificates export` writes, and refuses the rest."""

import re
import subprocess
import sys
from pathlib import Path

from core.record_policy.certificates import Secret, digest_line, sign

_PAGE = Path(__file__).parents[2] / "docs" / "certificates.md"
_SECRET = Secret(b"s" * 32)


def _run(folder: Path, lines: list[str], key: str) -> "subprocess.CompletedProcess[str]":
    [script] = re.findall(r"```python\n(.*?)```", _PAGE.read_text("utf-8"), re.DOTALL)
    (folder / "check.py").write_text(script)
    (folder / "certificates.jsonl").write_text("".join(f"{line}\n" for line in lines))
    command = [sys.executable, "check.py", "certificates.jsonl", key]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_script_verifies_a_chain_and_refuses_what_was_changed_or_left_out(tmp_path: Path) -> None:
    lines: list[str] = []
    for number in (1, 2, 3):
        body = {"corpus": "papers", "kind": "documents", "documents": [], "removed": {"passages": number}}
        previous = digest_line(lines[-1]) if lines else ""
        lines.append(sign(_SECRET, body, chain="c", number=number, previous=previous))
    verified = _run(tmp_path, lines, _SECRET.public_key())
    assert (verified.returncode, verified.stdout.strip()) == (0, str({"c": (3, digest_line(lines[-1]))}))
    spaced = lines[2].replace('"signature":"', '"signature":" ')
    wrongs = (lines[1:], [lines[0], lines[2]], [lines[0].replace("papers", "others"), *lines[1:]], [*lines[:2], spaced])
    for wrong in wrongs:
        assert _run(tmp_path, wrong, _SECRET.public_key()).returncode
    assert _run(tmp_path, lines, Secret(b"o" * 32).public_key()).returncode
