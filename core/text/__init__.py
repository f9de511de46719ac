"""Text: valid characters, names, sentences, stems, full-text queries and the comparison of short answers."""
