"""Parts of chunkers: splitting and packing sentences, titles."""
