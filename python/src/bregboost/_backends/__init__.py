"""The estimators that can be trained under constraints, and what the core needs to know of them."""

import sys
from importlib import import_module
from typing import Any

from bregboost._backends._base import Backend, Columns, Data, Task, TreeBackend
from bregboost._backends._lightgbm import LightGbmBackend
from bregboost._backends._linear import LinearBackend, LinearModel
from bregboost._backends._xgboost import XgboostBackend

__all__ = ["Backend", "Columns", "Data", "LinearModel", "Task", "TreeBackend", "backend_for"]

_BACKENDS: dict[str, type[Backend]] = {
    backend.name: backend for backend in (LightGbmBackend, XgboostBackend, LinearBackend)
}


def backend_for(estimator: Any, task: Task) -> Backend:
    """The backend of an estimator, or of the default one of a library that is given by name.

    Parameters
    ----------
    estimator : estimator or {"lightgbm", "xgboost", "linear"}
    task : {"classification", "regression"}

    Raises
    ------
    TypeError
        If there is no backend for this class.
    ValueError
        If the name is unknown, or a parameter of the estimator cannot be honoured.

    Examples
    --------
    >>> backend_for("linear", "regression").estimator
    Ridge()
    """
    if isinstance(estimator, str):
        if estimator not in _BACKENDS:
            raise ValueError(f"estimator: {estimator!r}; allowed: {_allowed(task)}")
        backend = _BACKENDS[estimator]
        return backend(_default_estimator(backend, task), task)
    if isinstance(estimator, type):
        raise TypeError(
            f"estimator: the class {estimator.__name__}; allowed: an instance of it, "
            f"{estimator.__name__}()"
        )
    ancestors = [
        (base.__module__.partition(".")[0], base.__name__) for base in type(estimator).__mro__
    ]
    for backend in _BACKENDS.values():
        if backend.estimators[task] not in ancestors:
            continue
        for _, name in ancestors:
            if name in backend.refused:
                raise TypeError(
                    f"estimator: {name}; allowed: {_allowed(task)} ({backend.refused[name]})"
                )
        return backend(estimator, task)
    raise TypeError(
        f"estimator: {type(estimator).__name__}; allowed for a {task}: {_allowed(task)}"
    )


def _allowed(task: Task) -> str:
    classes = [backend.estimators[task][1] for backend in _BACKENDS.values()]
    names = [repr(name) for name in _BACKENDS]
    return f"{', '.join(classes)}, or a name of {', '.join(names)}"


def _default_estimator(backend: type[Backend], task: Task) -> Any:
    package, name = backend.estimators[task]
    try:
        module = import_module("sklearn.linear_model" if package == "sklearn" else package)
    except ImportError as error:
        raise ImportError(
            f"estimator: {backend.name!r}; {package} cannot be imported into {sys.executable}: "
            f"pip install {package}"
        ) from error
    return getattr(module, name)()
