"""Parts of loaders: assembling documents with places, sections, front matter, checked archives, properties, layout."""
