"""Six families of documents in versions, with 30 questions that name a version or none.

`documents.jsonl` says which packages the files come from; the German reports are made by `reports.py`. Of the families,
`LOOKED_AT` (in `documents.py`) may be used to choose something; the others are held out.
"""
