from pathlib import Path

import pytest

from models.embedding import local_embedder


@pytest.mark.parametrize(
    ("cpuinfo", "has"),
    [
        ("processor\t: 0\nflags\t\t: fpu avx512f avx512_bf16 amx_tile\n", True),
        ("flags\t\t: fpu amx_bf16\n", True),
        ("Features\t: fp asimd i8mm bf16\n", True),
        ("flags\t\t: fpu avx512f avx512_vnni\n", False),
        ("model name\t: a bf16 processor\nflags\t\t: fpu\n", False),
        (None, False),
    ],
)
def test_the_instructions_for_bfloat16_are_looked_up(
    cpuinfo: str | None, has: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if cpuinfo is not None:
        (tmp_path / "cpuinfo").write_text(cpuinfo)
    monkeypatch.setattr(local_embedder, "_CPUINFO", tmp_path / "cpuinfo")
    assert local_embedder.has_bfloat16.__wrapped__() is has
