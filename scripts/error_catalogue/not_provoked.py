"""Errors that no test can provoke, and why: as few as can be. docs/errors.md shows them."""

NOT_PROVOKED: dict[str, str] = {}
