"""What runs models: PyTorch, transformers, packages, programs, model folders, preprocessing and heads.

A model library is imported in its own file, when it is used; otherwise they may import cards and `core`.
"""
