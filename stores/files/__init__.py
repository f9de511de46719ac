"""File stores: the originals of documents in a folder, as files or packed, or as objects in an S3 bucket."""

from pathlib import Path

from core.errors import InvalidSettings
from stores.files.bucket import BucketFileStore
from stores.files.folder import FolderFileStore
from stores.files.packed import PackedFileStore

__all__ = ["BucketFileStore", "FolderFileStore", "PackedFileStore", "make_file_store"]


def make_file_store(url: str, folder: Path) -> FolderFileStore | BucketFileStore | PackedFileStore:
    """Returns a bucket for an s3:// URL, a folder for a path, and `folder` with a database in it for an empty `url`.

    Raises `InvalidSettings` for any other URL.
    """
    if url.startswith("s3://"):
        return BucketFileStore(url)
    if "://" in url:
        scheme = url.partition("://")[0]
        raise InvalidSettings(
            f"HOPWEAVE_FILES__URL is neither a folder nor s3://bucket/prefix: {scheme}:// is not known"
        )
    return FolderFileStore(Path(url)) if url else PackedFileStore(folder)
