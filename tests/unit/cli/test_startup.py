"""Commands start at once: what is heavy is imported by the command that needs it."""

import subprocess
import sys

_HEAVY = ("numpy", "pydantic", "torch", "sentence_transformers", "numba", "tantivy", "igraph", "fastapi", "celery")


def test_the_command_line_loads_nothing_heavy() -> None:
    code = f"import sys, cli.main; print([name for name in {_HEAVY!r} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
