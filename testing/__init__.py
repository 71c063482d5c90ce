"""Test doubles that embedders may reuse."""
