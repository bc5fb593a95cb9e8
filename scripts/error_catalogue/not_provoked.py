"""Errors that no test can provoke, and why: as few as can be. docs/errors.md shows them."""

NOT_PROVOKED: dict[str, str] = {
    "config: '⟨file⟩': no TOML: ⟨error⟩": (
        "CLI11 2.1, with which the tests run, reads any text in some way; from 2.4 on it refuses "
        "quoted texts with escapes that are none"
    ),
}
