"""Parts of the loader of PDF: runs of characters, lines in the order of reading, headings, and text recognition."""
