"""A worker's run on a corpus: claim, load, chunk, extract, embed, commit."""
