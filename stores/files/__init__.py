"""File stores: the originals of documents as files in a folder, or as objects in an S3 bucket."""

from stores.files.bucket import BucketFileStore
from stores.files.choice import make_file_store
from stores.files.folder import FolderFileStore

__all__ = ["BucketFileStore", "FolderFileStore", "make_file_store"]
