"""The operations of each family."""
