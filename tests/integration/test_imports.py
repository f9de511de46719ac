"""What importing a package loads. Each test imports it in a process of its own, because other tests load everything."""

import subprocess
import sys

from models.embedding.weights import BUILT_IN

_HEAVY = ("numpy", "pydantic", "torch", "openvino", "transformers", "numba", "tantivy", "igraph", "fastapi", "celery")


def output_of(program: str) -> str:
    ran = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def test_the_command_line_loads_nothing_heavy() -> None:
    """Commands start at once: what is heavy is imported by the command that needs it."""
    assert output_of(f"import sys, cli.main; print([name for name in {_HEAVY!r} if name in sys.modules])") == "[]"


def test_the_indexer_loads_no_parser_and_no_model() -> None:
    heavy = {"markdown_it", "openvino", "torch"}
    assert output_of(f"import sys, indexer; print(*(m for m in sys.modules if m in {heavy!r}))") == ""


def test_only_who_walks_imports_the_compiler() -> None:
    assert output_of("import sys, retrieval, retrieval.searchers.fused; print('numba' in sys.modules)") == "False"


def test_the_built_in_model_counts_and_embeds_without_torch_and_without_telemetry() -> None:
    """And before the first text, without the library that computes."""
    script = (
        "import asyncio, sys; from core.settings import EmbeddingSettings; from models import make_embedder; "
        "e = make_embedder(EmbeddingSettings()); "
        "print(e.model, e.dimension, e.tokens.max_tokens, e.tokens.count(['one two', '']), "
        "[m for m in ('openvino', 'torch', 'transformers', 'openai') if m in sys.modules]); "
        "print(len(asyncio.run(e.embed_query('Who?'))), "
        "[m for m in ('torch', 'transformers', 'openvino_telemetry', 'openvino.tools.ovc') if m in sys.modules])"
    )
    assert output_of(script) == f"{BUILT_IN} 384 254 [2, 0] []\n384 []"


def test_the_python_api_loads_nothing_and_leaves_the_path_alone() -> None:
    program = (
        "import sys; before = list(sys.path); import hopweave; "
        "heavy = [name for name in ('httpx', 'pydantic', 'importlib.metadata', 'asyncio') if name in sys.modules]; "
        "hopweave.open; ours = [name for name in ('core', 'app', 'api', 'cli') if name in sys.modules]; "
        "print(heavy, ours, sys.path == before)"
    )
    assert output_of(program) == "[] [] True"


def test_unit_tests_are_collected_without_anything_heavy() -> None:
    """`make quick` takes seconds: fixtures and tests import what is heavy when they run."""
    heavy = ("torch", "openvino", "numba", "scipy", "pandas", "igraph", "lightgbm", "tantivy", "neo4j", "pymilvus")
    program = (
        "import sys, pytest; code = pytest.main(['tests/unit', '--collect-only', '-qq', '-p', 'no:cacheprovider']); "
        f"print(code == 0, [name for name in {heavy!r} if name in sys.modules])"
    )
    assert output_of(program).splitlines()[-1] == "True []"
