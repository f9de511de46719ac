"""The Model Context Protocol: the tools by which a language model uses this server, over HTTP and over stdio.

The SDK (`mcp`) is imported by `server.py` alone, when a client speaks MCP for the first time.
"""
