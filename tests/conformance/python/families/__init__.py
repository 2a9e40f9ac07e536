"""The operations of each format."""
