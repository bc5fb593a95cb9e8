"""Methods of benchmarks/peers that need no package of a peer, on data whose answer is known."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from benchmarks.common.rate_limits import ClassLimit, DeviationLimit, GapLimit, Outcome
from benchmarks.common.rows import Rows, Split
from benchmarks.peers import forest
from benchmarks.peers.apart.deviation import deviation_bound
from benchmarks.peers.apart.request import Request
from benchmarks.peers.elsewhere import Environment, Peer
from benchmarks.peers.forest import ForestCX, ForestER
from benchmarks.peers.method import Answer, DidNotRun, Method, Problem, Setting
from benchmarks.peers.methods import METHODS
from benchmarks.peers.plain import Merit, Plain, TunedOffsets, tuned_offsets

BOUND = 0.05
LIMITS = (ClassLimit("fnr", 1, BOUND),)


def two_gaussians(count: int, seed: int) -> Rows:
    """A fifth of class 1, at 1 instead of -1 in the first of two features, deviation 1."""
    random = np.random.default_rng(seed)
    labels = (random.random(count) < 0.2).astype(int)
    features = random.normal(size=(count, 2))
    features[:, 0] += np.where(labels == 1, 1.0, -1.0)
    return Rows(features, labels)


@pytest.fixture(scope="module")
def problem() -> Problem:
    split = Split(two_gaussians(4000, 1), two_gaussians(20000, 2))
    return Problem(split, LIMITS, rho=5.0, seed=0, threads=1)


def outcome_of(method: Method, problem: Problem) -> Outcome:
    answer: Answer = method.fit(problem, method.learners[0])
    assert answer.seconds > 0.0
    return Outcome(answer.predicted, problem.split.test.labels, None)


def best_accuracy(miss_rate: float) -> float:
    """Of any decision that misses so many of class 1: a threshold on the first feature."""
    threshold = stats.norm.ppf(miss_rate, loc=1.0)
    return 0.2 * (1.0 - miss_rate) + 0.8 * stats.norm.cdf(threshold, loc=-1.0)


# What may be missed beyond the bound. 800 rows of class 1 to learn from are a standard error of
# 0.008; probabilities of a forest are hundredths, a few of which decide; CX believes them, and
# those of fully grown trees are too bold.
@pytest.mark.parametrize(
    ("method", "beyond"),
    [(TunedOffsets(), 0.025), (ForestER(), 0.04), (ForestCX(), 0.1)],
    ids=["tuned", "ER", "CX"],
)
def test_misses_fall_to_the_bound(method: Method, beyond: float, problem: Problem) -> None:
    plain = outcome_of(Plain(), problem)
    bounded = outcome_of(method, problem)
    missed = bounded.rate("error", label=1).value
    assert plain.rate("error", label=1).value > 0.25
    assert missed < BOUND + beyond
    assert best_accuracy(missed) - 0.1 < bounded.accuracy < best_accuracy(missed) + 0.01


def posterior(features: np.ndarray) -> np.ndarray:
    """The true probabilities: log-odds are 2 x + log(0.2 / 0.8)."""
    positive = 1.0 / (1.0 + np.exp(-(2.0 * features[:, 0] + np.log(0.25))))
    return np.column_stack([1.0 - positive, positive])


@pytest.mark.parametrize("kind", ["cx", "er"])
def test_dual_is_largest_at_the_cost_of_the_bound(kind: str) -> None:
    """The decision with costs (1, c) is x > (log 4 - log c) / 2; the bound says where that is."""
    rows = two_gaussians(200000, 4)
    shares = forest.class_shares(rows.labels)
    if kind == "cx":
        dual = forest.concave_dual(posterior(rows.features), shares, LIMITS)
    else:
        dual = forest.counted_dual(posterior(rows.features), rows.labels, shares, LIMITS)
    costs = forest.maximising_costs(dual, LIMITS, 2)
    threshold = stats.norm.ppf(BOUND, loc=1.0)
    assert costs[0] == 1.0
    assert np.log(costs[1]) == pytest.approx(np.log(4.0) - 2.0 * threshold, abs=0.1)


def test_bound_that_is_held_anyway_has_no_cost() -> None:
    rows = two_gaussians(20000, 5)
    loose = (ClassLimit("fnr", 1, 0.9),)
    dual = forest.concave_dual(posterior(rows.features), forest.class_shares(rows.labels), loose)
    assert forest.maximising_costs(dual, loose, 2).tolist() == [1.0, 1.0]


def test_offset_of_two_classes_is_the_best_of_all() -> None:
    random = np.random.default_rng(7)
    labels = (random.random(150) < 0.3).astype(int)
    scores = np.zeros((150, 2))
    scores[:, 1] = random.normal(size=150) + labels
    merit = Merit(Rows(scores, labels), LIMITS, rho=2.0)
    offsets = tuned_offsets(scores, merit)
    every = [merit((scores[:, 1] >= place).astype(int)) for place in [*scores[:, 1], np.inf]]
    assert merit((scores + offsets).argmax(axis=1)) == pytest.approx(min(every))


def test_offsets_of_three_classes_hold_bounds() -> None:
    """Class 0 is in the middle of the others: without offsets a third of it is lost."""
    random = np.random.default_rng(8)
    labels = random.integers(3, size=3000)
    places = np.array([0.0, -2.0, 2.0])
    x = places[labels] + random.normal(size=3000)
    scores = -0.5 * (x[:, None] - places) ** 2
    limit = ClassLimit("error(class=0)", 0, BOUND)
    merit = Merit(Rows(x[:, None], labels), (limit,), rho=5.0)

    def missed(offsets: np.ndarray) -> float:
        return limit.value(Outcome((scores + offsets).argmax(axis=1), labels, None))

    assert missed(np.zeros(3)) > 0.25
    assert missed(tuned_offsets(scores, merit)) <= BOUND + 1.0 / (labels == 0).sum()


def test_settings_move_the_bounds() -> None:
    assert Setting().text == "default"
    assert Setting(bounds=2.0).limits(LIMITS) == (ClassLimit("fnr", 1, 0.1),)
    assert {Setting(rho=1.0).text, Setting(bounds=2.0).text} == {"rho 1", "bounds x 2"}


def test_request_survives_the_file(tmp_path: Path) -> None:
    rows = two_gaussians(20, 9)
    groups = np.arange(20) % 2
    limits = (GapLimit("error", "error", None, 0.05), DeviationLimit(1, -1, 0.03), *LIMITS)
    request = Request(Rows(rows.features, rows.labels, groups), rows.features, None, limits, 3, 2)
    request.write(tmp_path / "request.npz")
    again = Request.read(tmp_path / "request.npz")
    np.testing.assert_array_equal(again.training.features, rows.features)
    np.testing.assert_array_equal(again.training.groups, groups)
    assert again.test_groups is None
    assert (again.limits, again.seed, again.threads) == (limits, 3, 2)


def test_gap_at_its_bound_is_a_deviation_at_its_bound() -> None:
    """300 rows of group 0 and 100 of group 1, with 30 and 20 errors: 10% and 20%, 12.5% in all."""
    groups = np.repeat([0, 1], [300, 100])
    labels = np.zeros(400, dtype=int)
    predicted = np.zeros(400, dtype=int)
    predicted[:30] = predicted[300:320] = 1
    limit = GapLimit("error", "error", None, 0.1)
    outcome = Outcome(predicted, labels, groups)
    assert limit.value(outcome) == pytest.approx(0.1)
    deviation = DeviationLimit(1, 1, 0.0).value(outcome)
    assert deviation == pytest.approx(0.075)
    rows = Rows(np.zeros((400, 1)), labels, groups)
    assert deviation_bound(limit, rows) == pytest.approx(deviation)


def test_peer_that_is_not_installed_says_so(problem: Problem) -> None:
    peer = Peer("none", Environment("no such environment"), "none.train", ())
    with pytest.raises(DidNotRun, match="did not install: no environment"):
        peer.fit(problem, "lightgbm")
    assert peer.package_version() == ""


def test_methods_know_what_they_can_do() -> None:
    gap = (GapLimit("error", "error", None, 0.05),)
    classes = (ClassLimit("error(class=1)", 1, 0.01), ClassLimit("error(class=2)", 2, 0.03))
    of_groups = {"reduction", "reduction_as_given", "oxonfair", "fairgbm"}
    everything = {"plain", "tuned", "bregboost"}
    forests = {"forest_cx", "forest_er"}

    def able(limits: tuple) -> set[str]:
        return {name for name, method in METHODS.items() if method.can_do(limits)}

    assert able(gap) == everything | of_groups
    assert able(classes) == everything | forests
    assert able(LIMITS) == everything | forests | {"fairgbm", "oxonfair", "mapie"}
    assert able((DeviationLimit(0, 1, 0.03),)) == everything
