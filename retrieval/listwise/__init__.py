"""Parts of the searcher `listwise`: the call that reads the best hits of another searcher as cards."""
