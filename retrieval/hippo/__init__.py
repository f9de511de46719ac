"""Parts of the searcher `hippo`: facts linked by vector, filtered by a model, and made into a reset vector."""
