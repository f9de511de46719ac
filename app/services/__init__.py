"""The use cases, as functions of a container: ingest, search, ask, corpora, estimates."""
