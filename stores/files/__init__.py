"""Originals of documents as files in a folder."""

from stores.files.folder import FolderFileStore

__all__ = ["FolderFileStore"]
