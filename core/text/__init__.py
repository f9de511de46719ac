"""Text as data: which characters are accepted, names, sentences, surface forms, terms and query words."""
