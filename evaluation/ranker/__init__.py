"""Training of rankers on question sets, for `hopweave train-ranker`."""
