"""Citations: markers in a text (`markers`) and the quotes of passages that they stand for (`quotes`)."""
