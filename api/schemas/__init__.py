"""What goes over the wire: pydantic models, apart from the values of `core` that they are made of."""
