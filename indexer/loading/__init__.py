"""Parts of loaders: assembling documents with places, checked archives, properties, and the layout of PDF pages."""
