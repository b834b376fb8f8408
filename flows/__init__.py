"""Flows: what Prefect runs, from one audit to a night, a release and a look at the model registry.

They import `tasks`, the library and what is below it; nothing imports them but the command line, by entry point.
"""
