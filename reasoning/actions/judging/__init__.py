"""Actions that judge: an answer against passages, whether passages suffice, whether a question needs any."""
