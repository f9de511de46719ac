"""The steps of `hopweave ingest --server`: this process reads the files, and a server stores them."""
