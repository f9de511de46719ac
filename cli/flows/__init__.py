"""What the longer commands do, step by step, apart from their options and their output."""
