"""The exceptions of the C++ core."""


class ConstraintError(ValueError):
    """A constraint that cannot be read, or that the data cannot answer.

    Attributes
    ----------
    code : str or None
        What is wrong, in a word that stays the same between versions: ``"unknown-rate"``.
    text : str or None
        The constraint as it was written.
    position : int or None
        The place in `text`, from 1, where it cannot be read.

    Examples
    --------
    >>> import bregboost
    >>> try:
    ...     bregboost.parse("fnrr <= 5%")
    ... except bregboost.ConstraintError as error:
    ...     print(error.code, error.position)
    unknown-rate 1
    """

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        text: str | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.text = text
        self.position = position


class LibraryError(RuntimeError):
    """LightGBM or XGBoost is missing, too old or damaged; the message says how to install it."""


class CheckpointError(RuntimeError):
    """A checkpoint that is damaged, is of another training, or cannot be written."""


class PeerError(ConnectionError):
    """A worker of a cluster cannot go on, since another one is lost or has failed."""
