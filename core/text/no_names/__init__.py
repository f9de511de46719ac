"""What is written like a name and is none: common words with a capital, dates, places in a text, commands."""
