"""File stores: the originals of documents in a folder, as files or packed, or as objects in an S3 bucket."""

from stores.files.bucket import BucketFileStore
from stores.files.choice import make_file_store
from stores.files.folder import FolderFileStore
from stores.files.packed import PackedFileStore

__all__ = ["BucketFileStore", "FolderFileStore", "PackedFileStore", "make_file_store"]
