"""Parts of loaders: sections under headings, chapters of plain text, front matter, texts that are put together."""
