"""Uploads of files as `multipart/form-data`: receiving them on disk, and reading them as documents."""
