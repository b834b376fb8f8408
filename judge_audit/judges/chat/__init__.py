"""OpenAI-compatible endpoints: what is sent, what comes back, what failed.

It may import cards and the reply parser; the provider's package is imported in `chat_client` alone.
"""
