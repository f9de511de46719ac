"""Measurements of documents that come, change and go, beside the searches that read them."""
