"""Parts of the searchers `hippo` (HippoRAG 2) and `hippo1` (HippoRAG): fact linking, the fact filter, the reset vector;
the names of a question, and the walk over entities alone.
"""
