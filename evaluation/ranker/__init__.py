"""Training a ranker on question sets."""
