"""What a round costs on a cluster, in bytes and seconds, at sizes that no machine here has.

python -m benchmarks.scale.model [--page docs/scale.md]

Counts of messages and their sizes are those of the code (a test compares them with a training);
seconds follow from the assumptions below. Prints Markdown; --page writes it into a page as well.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.common.markdown import table, with_part
from benchmarks.common.results_file import write_whole

PART = "model"

# Measured by benchmarks.scale.rates, on one core: nanoseconds per row and round of 20 features, by
# the library alone and by the solver auto, of whose rows a quarter is held out.
ALONE = {"xgboost": 81.0, "lightgbm": 64.0}
UNDER_LIMITS = {"xgboost": 81.0, "lightgbm": 58.0}
SKETCH_NANOSECONDS_PER_ROW = 150.0  # and pass
HANDLING = 20e-6  # seconds of the first worker for a message from each other one, and back

# Assumed, for a data centre.
LATENCY = 50e-6  # seconds for a message between two machines, software included
BANDWIDTH = 1.25e9  # bytes per second of a machine, each way: 10 Gbit/s

DOUBLE = 8
HISTOGRAM_ENTRY = 16  # bytes: sums of gradients and hessians
SPLIT = 256  # bytes of LightGBM's best split
ROUNDS_PER_STEP = 2  # of the solver auto
SHARE_JUDGED = 0.75  # of the steps, the later ones
UNSEEN_SHARE = 0.25
MOST_SKETCH_ENTRIES = 100_000
FINEST_SKETCH = 32_768
GATHERS, FIRST_SUMS = 13, 40  # once


@dataclass(frozen=True)
class Training:
    """A classifier of two classes, under limits on rates."""

    engine: str = "xgboost"
    workers: int = 100
    cores: int = 1  # of each
    rows: float = 1e9
    features: int = 20
    bins: int = 256
    depth: int = 6  # of XGBoost's trees
    leaves: int = 31  # of LightGBM's
    groups: int = 2
    limits: int = 2
    compares_groups: bool = True  # some limit does

    @property
    def cells(self) -> int:
        """Label by group."""
        return 2 * self.groups


def threshold_bins(cells: int) -> int:
    """Of the grid on which iterates are judged."""
    return min(max(16_384 // cells, 64), 1024)


def step_sums(training: Training, judged: bool) -> list[int]:
    """Numbers in each message of a step of the solver auto."""
    kinds = 3  # predicted 0, predicted 1, loss
    sums = [1, kinds * training.cells]  # whether to stop; rates of unseen rows
    if judged and training.compares_groups:
        grid = threshold_bins(training.cells) * training.cells
        sums += [2, grid, grid]  # ends, a coarse and a fine grid
    return sums


def ring_sum(size: float, workers: int) -> tuple[float, float]:
    """XGBoost's: bytes that each worker sends, and seconds."""
    others = workers - 1
    if size / DOUBLE < workers:  # all get all, and add up
        return others * size, others * (LATENCY + size / BANDWIDTH)
    sent = 2 * others / workers * size
    return sent, 2 * others * LATENCY + sent / BANDWIDTH


def star_sum(size: float, workers: int) -> tuple[float, float]:
    """Ours beside LightGBM: what the first worker sends, which is the most, and seconds."""
    others = workers - 1
    if others == 0:
        return 0.0, 0.0
    sent = others * size
    return sent, 2 * LATENCY + others * HANDLING + 2 * sent / BANDWIDTH


def halving_reduce(size: float, workers: int) -> tuple[float, float]:
    """LightGBM's reduce-scatter; workers beyond a power of 2 first send all to a neighbour."""
    if workers == 1:
        return 0.0, 0.0
    hops = math.floor(math.log2(workers))
    extra = 0 if workers == 2**hops else 1
    sent = (1 - 1 / 2**hops + extra) * size
    return sent, (hops + 2 * extra) * LATENCY + sent / BANDWIDTH


def doubling_gather(size: float, workers: int) -> tuple[float, float]:
    """LightGBM's small all-reduce: all get all."""
    sent = (workers - 1) * size
    return sent, math.ceil(math.log2(workers)) * LATENCY + sent / BANDWIDTH


def total(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return sum(sent for sent, _ in parts), sum(seconds for _, seconds in parts)


def engine_network(training: Training) -> tuple[float, float]:
    """The library's own, for one tree: histograms, of the smaller of two siblings only."""
    histogram = training.features * training.bins * HISTOGRAM_ENTRY
    workers = training.workers
    if training.engine == "xgboost":
        built = [1, *(2**level for level in range(training.depth - 1))]  # nodes of each level
        return total([ring_sum(nodes * histogram, workers) for nodes in built])
    split = [halving_reduce(histogram, workers), doubling_gather(2 * SPLIT, workers)]
    return total(split * (training.leaves - 1))


def own_network(training: Training) -> tuple[float, float]:
    """Ours for one round, on average over a training."""
    one = ring_sum if training.engine == "xgboost" else star_sum
    steps = [
        total([one(DOUBLE * count, training.workers) for count in step_sums(training, judged)])
        for judged in (False, True)
    ]
    sent, seconds = (
        (1 - SHARE_JUDGED) * plain + SHARE_JUDGED * judged
        for plain, judged in zip(*steps, strict=True)
    )
    return sent / ROUNDS_PER_STEP, seconds / ROUNDS_PER_STEP


def work(training: Training, nanoseconds: dict[str, float]) -> float:
    """Seconds of a round that a worker is busy with its rows."""
    mine = training.rows / training.workers / training.cores
    return mine * nanoseconds[training.engine] * 1e-9 * training.features / 20


def once_seconds(training: Training) -> float:
    """Before and after the rounds: levels and cells; the sketch of scores, to choose offsets on."""
    workers = training.workers
    entry = 6 * DOUBLE
    if training.engine == "xgboost":  # every worker in turn, by a tree, a length and then the bytes
        gathers = GATHERS * workers * 2 * math.ceil(math.log2(workers)) * LATENCY
        sketch = MOST_SKETCH_ENTRIES * entry / BANDWIDTH
        sums = FIRST_SUMS * ring_sum(DOUBLE, workers)[1]
    else:
        gathers = GATHERS * star_sum(0, workers)[1]
        sketch = (workers - 1) * MOST_SKETCH_ENTRIES * entry / BANDWIDTH
        sums = FIRST_SUMS * star_sum(DOUBLE, workers)[1]
    unseen = UNSEEN_SHARE * training.rows / workers
    entries = workers * min(unseen, FINEST_SKETCH * training.cells / 2)
    passes = 1 + max(0, math.ceil(math.log(entries / MOST_SKETCH_ENTRIES, 1.5)))
    passes_seconds = passes * unseen * SKETCH_NANOSECONDS_PER_ROW * 1e-9 / training.cores
    return gathers + sums + sketch + passes_seconds


def power(value: float) -> str:
    exponent = math.log10(value)
    return f"10^{exponent:.0f}" if exponent == int(exponent) else f"{value / 1e6:g} million"


def amount(size: float) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{three_digits(size / unit)} {name}"
    return f"{size:.0f} B"


def seconds(value: float) -> str:
    if value >= 1.0:
        return f"{three_digits(value)} s"
    return f"{three_digits(value * 1e3)} ms" if value else "0"


def three_digits(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def sizes_table() -> str:
    """From this machine's sizes to those of a thousand machines."""
    sizes = [(1, 1, 1e6), (2, 1, 2e6), (4, 1, 4e6), (10, 1, 1e8), (100, 1, 1e9), (1000, 1, 1e10)]
    lines = []
    for engine, name in (("xgboost", "XGBoost"), ("lightgbm", "LightGBM")):
        for workers, cores, rows in [*sizes, (1000, 16, 1e10)]:
            training = Training(engine=engine, workers=workers, rows=rows, cores=cores)
            sent, waits = engine_network(training)
            own_sent, own_waits = own_network(training)
            alone, limited = work(training, ALONE), work(training, UNDER_LIMITS)
            ratio = (limited + waits + own_waits) / (alone + waits)
            lines.append(
                [
                    name, f"{workers:,} x {cores}", power(rows),
                    seconds(alone), amount(sent), seconds(waits),
                    seconds(limited), amount(own_sent), seconds(own_waits),
                    f"{ratio:.2f}", seconds(once_seconds(training)),
                ]
            )  # fmt: skip
    header = [
        "", "workers x cores", "rows",
        "alone: works", "sends", "waits",
        "under limits: works", "sends more", "waits more",
        "over alone", "once",
    ]  # fmt: skip
    return table(header, lines)


def growth_table() -> str:
    """One thing at a time."""
    base = Training()
    changes = {
        "as it is": base,
        "10 times the rows": replace(base, rows=10 * base.rows),
        "10 times the groups": replace(base, groups=10 * base.groups),
        "100 times the groups": replace(base, groups=100 * base.groups),
        "10 times the limits, on the same groups": replace(base, limits=10 * base.limits),
        "10 times the workers": replace(base, workers=10 * base.workers),
    }
    lines = []
    for name, changed in changes.items():
        line = [name]
        for engine in ("xgboost", "lightgbm"):
            training = replace(changed, engine=engine)
            sent, waits = own_network(training)
            line += [seconds(work(training, UNDER_LIMITS)), amount(sent), seconds(waits)]
        lines.append(line)
    header = ["100 workers, 10^9 rows, 2 groups, 2 limits"]
    for engine in ("XGBoost", "LightGBM"):
        header += [f"{engine}: works", "sends more", "waits more"]
    return table(header, lines)


def render() -> str:
    return f"{growth_table()}\n\n{sizes_table()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, help="whose part is written anew")
    options = parser.parse_args()
    part = render()
    print(part)
    if options.page:
        write_whole(options.page, with_part(options.page.read_text(), PART, part))


if __name__ == "__main__":
    main()
