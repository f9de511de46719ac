"""The Markdown page that compares reasoners."""
