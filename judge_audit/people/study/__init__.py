"""Studies: people read ladders on a page of our own, blind and each by themselves."""
