"""Parts of the searcher `bridged`: evidence, features and a trained ranker over the pool of stage 1; no model is
called.
"""
