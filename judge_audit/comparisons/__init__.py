"""Judges that compare two pictures: which pairs they are shown, asking them, and what checks see of it."""
