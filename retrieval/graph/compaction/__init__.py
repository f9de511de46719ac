"""A snapshot and the changes over it, written as one to a file without holding either in memory."""
