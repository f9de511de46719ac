"""Trees of a ranker's file score as LightGBM, which made them."""

import json

import lightgbm
import numpy as np
import pytest

from retrieval.bridged.ranker import read_trees
from retrieval.bridged.training import _flatten_tree


@pytest.mark.parametrize("seed", [0, 1])
def test_trees_score_as_the_library_that_made_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(2000, 7)) * (rng.random((2000, 7)) < 0.7)  # many zeros, as features have
    labels = (features[:, 0] * features[:, 1] + features[:, 2] > 0.3).astype(np.float64)
    settings = {"objective": "binary", "num_leaves": 8, "verbose": -1, "num_threads": 1, "seed": seed}
    booster = lightgbm.train(settings, lightgbm.Dataset(features, labels), 40)
    written = json.dumps([_flatten_tree(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]])
    unseen = np.concatenate([rng.normal(size=(500, 7)), features[:500], np.zeros((1, 7))])
    ours = read_trees(json.loads(written), 7).score(unseen)
    assert np.abs(ours - np.asarray(booster.predict(unseen))).max() < 1e-12
    assert ours.std() > 0.1
