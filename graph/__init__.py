"""The shape of the loop: state, context, routing; knows no model."""

from cragraph.lazy import exports

__getattr__ = exports(__name__)
