"""What the tables, messages, views, limits and configuration files look like: data, no code."""
