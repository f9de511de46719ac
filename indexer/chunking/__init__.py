"""Parts of chunkers: splitting, packing, and the text to embed for a chunk."""
