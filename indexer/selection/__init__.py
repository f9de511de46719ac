"""Selection of strategies: chunkers and extractors by name, loaders by media type or suffix."""
