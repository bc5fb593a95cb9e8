"""Parameters of the estimators: what is allowed, and what it means to the core."""

import os
from collections.abc import Collection, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from bregboost import _core
from bregboost._errors import ConstraintError
from bregboost._training import Checkpoint, Settings

SOLVERS = ("auto", "abpp", "cbpr")
_VALIDATIONS = {"auto": "by_cells", "folds": "folds", "holdout": "hold_out"}
_DEPLOYS = ("fold_mean", "refit")
# Of the solvers abpp and cbpr; the type of each value.
_SOLVER_OPTIONS: dict[str, tuple[type, str]] = {
    "bound_rule": (str, "text"),
    "dual_step": (Real, "a number"),
    "form": (str, "text"),
    "inner_steps": (Integral, "an integer"),
    "primal_step": (Real, "a number"),
    "surrogate": (str, "text"),
    "use_average": (bool, "True, False"),
}


def settings_of(estimator: Any) -> Settings:
    """What an estimator's parameters say about training, checked."""
    solver = estimator.solver
    check_choice("solver", solver, SOLVERS)
    check_choice("validation", estimator.validation, _VALIDATIONS)
    check_choice("deploy", estimator.deploy, _DEPLOYS)
    if estimator.rho is not None:
        check_number("rho", estimator.rho, low=0.0)
    check_number("delta", estimator.delta, low=0.0, high=0.5, open_low=True)
    certify = 0.0 if estimator.certify is None else estimator.certify
    check_number("certify", certify, low=0.0, high=1.0, open_high=True)
    if not _is_integer(estimator.n_folds) or estimator.n_folds < 2:
        raise ValueError(f"n_folds: {estimator.n_folds!r}; allowed: an integer of at least 2")
    for flag in ("all_rounds", "fold_offsets"):  # of classifiers alone
        _check_flag(flag, getattr(estimator, flag, True))
    if estimator.verbose is not None and not isinstance(estimator.verbose, (Integral, np.bool_)):
        raise ValueError(f"verbose: {estimator.verbose!r}; allowed: True, False, None")
    if estimator.max_weight is not None:
        check_number("max_weight", estimator.max_weight, low=0.0, open_low=True)
    check_objective(estimator.objective)
    if solver != "auto":
        for name, value in (("certify", certify), ("objective", estimator.objective)):
            if value:
                raise ValueError(
                    f"{name}: {value!r}; allowed with the solver {solver!r}, which minimises the "
                    "loss under limits on training rows: None"
                )
    return Settings(
        solver=solver,
        objective=estimator.objective or "",
        rho=None if estimator.rho is None else float(estimator.rho),
        delta=float(estimator.delta),
        certify=float(certify),
        validation=_VALIDATIONS[estimator.validation],
        num_folds=int(estimator.n_folds),
        deploy=estimator.deploy,
        all_rounds=bool(getattr(estimator, "all_rounds", False)),
        seed=_seed(estimator.random_state),
        max_weight=None if estimator.max_weight is None else float(estimator.max_weight),
        loss_range=_loss_range(estimator.loss_range),
        checkpoint=_checkpoint(estimator),
        solver_options=_solver_options(solver, estimator.solver_options),
    )


def check_objective(objective: Any) -> None:
    """A rate that has a better side; None stands for the task's own."""
    if objective is None:
        return
    if not isinstance(objective, str):
        raise TypeError(
            f"objective: {objective!r} ({type(objective).__name__}); allowed: the text of a rate, "
            "such as 'balanced_error', or None"
        )
    try:
        _core.maximises(objective)
    except ConstraintError as error:
        reason = str(error).partition(": ")[2]  # after the place in the text
        raise ValueError(f"objective: {objective!r}; allowed: a rate ({reason})") from None


def check_choice(field: str, value: Any, allowed: Collection[str]) -> None:
    """One of some words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{field}: {value!r}; allowed: {', '.join(map(repr, allowed))}")


def check_number(
    field: str,
    value: Any,
    low: float,
    high: float = np.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> None:
    """A finite number from `low` to `high`, the ends included unless they are open."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    inside = is_number and (low < value if open_low or low == -np.inf else low <= value)
    inside = inside and (value < high if open_high or high == np.inf else value <= high)
    if inside:
        return
    least = f"above {low:g}" if open_low else f"of at least {low:g}"
    least = "that is finite" if low == -np.inf else least
    most = "" if high == np.inf else f" and {'below' if open_high else 'at most'} {high:g}"
    raise ValueError(f"{field}: {value!r}; allowed: a number {least}{most}")


def _check_flag(field: str, value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{field}: {value!r}; allowed: True, False")


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _checkpoint(estimator: Any) -> Checkpoint | None:
    directory, every = estimator.checkpoint_dir, estimator.checkpoint_every
    if directory is not None and not isinstance(directory, (str, os.PathLike)):
        raise TypeError(
            f"checkpoint_dir: {directory!r} ({type(directory).__name__}); allowed: a path, None"
        )
    if not _is_integer(every) or every < 1:
        raise ValueError(f"checkpoint_every: {every!r}; allowed: an integer of at least 1")
    _check_flag("resume", estimator.resume)
    if directory is None:
        if estimator.resume:
            raise ValueError("resume: True; allowed without a checkpoint_dir: False")
        return None
    return Checkpoint(os.fspath(directory), int(every), bool(estimator.resume))


def _seed(random_state: Any) -> int:
    if random_state is None:
        return 0
    if _is_integer(random_state) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    raise ValueError(
        f"random_state: {random_state!r}; allowed: an integer of at least 0, a RandomState, None"
    )


def _loss_range(loss_range: Any) -> tuple[float, float] | None:
    if loss_range is None:
        return None
    ends = list(loss_range) if isinstance(loss_range, (tuple, list, np.ndarray)) else []
    if len(ends) != 2 or not all(isinstance(end, Real) for end in ends) or not ends[0] < ends[1]:
        raise ValueError(
            f"loss_range: {loss_range!r}; allowed: two numbers, the first below the second, or None"
        )
    return float(ends[0]), float(ends[1])


def _solver_options(solver: str, options: Any) -> dict[str, Any]:
    if not options and (options is None or isinstance(options, Mapping)):
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(
            f"solver_options: {options!r} ({type(options).__name__}); allowed: a dict, or None"
        )
    if solver == "auto":
        raise ValueError(
            f"solver_options: {sorted(options)}; allowed with the solver 'auto', which has nothing "
            "to tune: none"
        )
    for name, value in options.items():
        check_choice("solver_options", name, _SOLVER_OPTIONS)
        kind, text = _SOLVER_OPTIONS[name]
        if not isinstance(value, kind):
            raise TypeError(
                f"solver_options[{name!r}]: {value!r} ({type(value).__name__}); allowed: {text}"
            )
    return dict(options)
