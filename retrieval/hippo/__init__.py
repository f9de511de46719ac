"""Parts of the searcher `hippo` (HippoRAG 2): fact linking, the fact filter, and the reset vector."""
