"""Places: great-circle distance, resolving names to coordinates, and finding the places a question mentions."""
