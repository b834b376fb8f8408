"""The version of the package, which every audit records."""

__version__ = "0.1.0"
