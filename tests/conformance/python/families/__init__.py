"""What each family is asked."""
