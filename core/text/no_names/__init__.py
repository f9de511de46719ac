"""Words that are written like names and are none: common words with a capital, dates, places in a text, commands."""
