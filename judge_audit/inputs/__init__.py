"""What people hand over: items, pairs, traffic, spare prompts, and tables to import.

It may import `people`, `judges` and what is below, and never `checks`.
"""
