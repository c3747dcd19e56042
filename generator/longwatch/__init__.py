"""Longwatch compiles one policy per model family into everything that watches its training runs."""

__version__ = "0.1.0"
