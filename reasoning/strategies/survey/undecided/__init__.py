"""What a language model is shown of documents that words leave undecided, and how it reads them."""
