"""The web page: its files, the addresses of its views, and the responses that serve them."""
