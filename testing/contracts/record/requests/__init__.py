"""The contracts of the record about requests: changes and deletions of documents, receipts, questions and API keys."""
