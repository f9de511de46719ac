"""The size of a model, by its name."""

import pytest

from models.chat.configured import find_size


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("qwen2.5:1.5b-instruct", 1.5),
        ("Llama-3.2-3B-Instruct", 3),
        ("Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf", 1.5),
        ("gemma3:270m", 0.27),
        ("gemma-3n-e2b-it", 2),
        ("mixtral-8x7b", 56),
        ("qwen3-30b-a3b", 30),
        ("gpt-4.1-mini", None),
        ("phi-3-mini", None),
        ("local", None),
        ("", None),
    ],
)
def test_a_name_tells_the_size(name: str, billions: float | None) -> None:
    found = find_size(name)
    assert found is None if billions is None else found == pytest.approx(billions)
