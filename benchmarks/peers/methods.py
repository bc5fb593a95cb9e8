"""All methods, by the names that the command line knows them by."""

from benchmarks.common.rate_limits import Limit
from benchmarks.peers.constrained import Constrained
from benchmarks.peers.elsewhere import Environment, Peer
from benchmarks.peers.forest import ForestCX, ForestER
from benchmarks.peers.method import ERROR, ODDS, SELECTION, Method, Setting, gap_names, is_miss_rate
from benchmarks.peers.plain import Plain, TunedOffsets

CURRENT, OLD_NUMPY = Environment("current"), Environment("fairgbm")
ENVIRONMENTS = (CURRENT, OLD_NUMPY)


def error_gap(limits: tuple[Limit, ...]) -> bool:
    return gap_names(limits) == ERROR


def odds_gaps(limits: tuple[Limit, ...]) -> bool:
    return gap_names(limits) == ODDS


def selection_gap(limits: tuple[Limit, ...]) -> bool:
    return gap_names(limits) == SELECTION


GAPS = (error_gap, odds_gaps, selection_gap)
METHODS: dict[str, Method] = {
    "plain": Plain(),
    "tuned": TunedOffsets(),
    "bregboost": Constrained(),
    "fairgbm": Peer("FairGBM", OLD_NUMPY, "fairgbm.train", (is_miss_rate, error_gap, odds_gaps)),
    "reduction": Peer(
        "fairlearn ExponentiatedGradient",
        CURRENT,
        "fairlearn.reduction",
        GAPS,
        deterministic=False,
    ),
    "reduction_as_given": Peer(
        "fairlearn ExponentiatedGradient, bound as it stands",
        CURRENT,
        "fairlearn.reduction_as_given",
        GAPS,
        deterministic=False,
    ),
    "thresholds": Peer(
        "fairlearn ThresholdOptimizer",
        CURRENT,
        "fairlearn.thresholds",
        (odds_gaps, selection_gap),
        deterministic=False,
        group_at_prediction=True,
    ),
    "oxonfair": Peer(
        "OxonFair",
        CURRENT,
        "oxonfair.thresholds",
        (is_miss_rate, *GAPS),
        group_at_prediction=True,
    ),
    "mapie": Peer(
        "MAPIE, recall with confidence 0.9", CURRENT, "mapie.risk_control", (is_miss_rate,)
    ),
    "forest_cx": ForestCX(),
    "forest_er": ForestER(),
}

RHOS = tuple(Setting(rho=rho) for rho in (1.0, 2.0, 20.0))
# Along the frontier, beside the default. Limits that can be met hardly depend on rho: there the
# bounds move.
FRONTIERS: dict[str, tuple[Setting, ...]] = {
    "drybean": RHOS,
    "credit": tuple(Setting(bounds=factor) for factor in (0.5, 2.0, 4.0)),
    "adult_error": tuple(Setting(bounds=factor) for factor in (0.5, 1.4, 1.8)),
    "adult_odds": tuple(Setting(bounds=factor) for factor in (0.5, 2.0, 3.0)),
    "adult_selection": tuple(Setting(bounds=factor) for factor in (0.5, 2.0, 3.0)),
    "compas": tuple(Setting(bounds=factor) for factor in (0.5, 0.75, 1.25, 1.5, 2.0, 2.5)),
}
