"""Flows: tasks in order."""
