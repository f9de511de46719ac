"""The run of a worker on a corpus: claim, load, chunk, extract, embed, commit. `worker.py` is the entry point."""
