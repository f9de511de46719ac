"""Parts of loaders of text: sections and chapters, front matter, tables, web pages, mails."""
