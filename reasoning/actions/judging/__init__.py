"""Actions that judge answers, passages or questions."""
