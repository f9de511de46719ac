"""Commands on the contents of corpora: ingest, list, delete and export documents, and follow jobs."""
