"""The contracts of the record about requests: changes and deletions of documents that exist, receipts, and API keys."""
