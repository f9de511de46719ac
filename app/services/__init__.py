"""The use cases as functions of a container: ingestion, documents, corpora, searches, questions, estimates."""
