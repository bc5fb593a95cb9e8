"""The example program `constrained_boosting`: without constraints it trains as the stock library
does, with them it holds them, and what it cannot do it says."""

from dataclasses import replace
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import stock_training
import xgboost as xgb
from boosted_program import (
    LIBRARIES,
    Program,
    Run,
    arguments,
    cancer,
    check_outcome,
    diabetes,
    mixed,
    progression,
    training,
    weighted,
    wine,
    words,
    write_rows,
)
from stock_training import Training

BOTH = pytest.mark.parametrize("library", LIBRARIES)


@pytest.fixture
def program(constrained_boosting: Path, tmp_path: Path) -> Program:
    return Program(constrained_boosting, tmp_path)


def check_stock(run: Run, case: Training) -> None:
    case = replace(case, fold_of_row=run.fold_of_row)
    check_outcome(case, run, stock_training.run(case, run.model))


# ---- without constraints

MONOTONE = ",".join(["1"] * 15 + ["-1"] * 15)
STOCK = {
    "two classes": ("both", cancer(), {}),
    "three classes": ("both", wine(), {}),
    "numeric target": ("both", progression(), {}),
    "categories, missing values": ("both", mixed(), {}),
    "weights": ("both", weighted(cancer()), {}),
    "weights, three classes": ("both", weighted(mixed()), {}),
    "small bins": ("both", cancer(), {"max_bin": "16"}),
    "bagging": (
        "lightgbm",
        cancer(),
        {"bagging_fraction": "0.7", "bagging_freq": "2", "feature_fraction": "0.5", "seed": "11"},
    ),
    "GOSS": ("lightgbm", wine(), {"data_sample_strategy": "goss", "learning_rate": "0.3"}),
    "extremely random trees": ("lightgbm", cancer(), {"extra_trees": "true", "extra_seed": "5"}),
    "quantised gradients": ("lightgbm", cancer(), {"use_quantized_grad": "true"}),
    "monotone": ("lightgbm", cancer(), {"monotone_constraints": MONOTONE}),
    "sampling": (
        "xgboost",
        wine(),
        {"subsample": "0.7", "colsample_bytree": "0.5", "seed": "11"},
    ),
    "monotone trees": ("xgboost", cancer(), {"monotone_constraints": f"({MONOTONE})"}),
    "exact splits": ("xgboost", weighted(cancer()), {"tree_method": "exact"}),
    "parallel trees": ("xgboost", cancer(), {"num_parallel_tree": "3", "subsample": "0.5"}),
    "own start": ("xgboost", cancer(), {"base_score": "0.3"}),
}
STOCK_CASES = [
    pytest.param(training(library, rows, **parameters), id=f"{library}: {name}")
    for name, (libraries, rows, parameters) in STOCK.items()
    for library in LIBRARIES
    if libraries in ("both", library)
]


@pytest.mark.parametrize("case", STOCK_CASES)
def test_without_constraints_it_is_the_stock_library(program, case):
    run = program.train(case)
    assert run.result["reason"] == "iteration_limit"
    assert run.result["rounds"] == [case.rounds]
    check_stock(run, case)


@BOTH
def test_texts_train_like_their_codes(program, tmp_path, library):
    case = training(library, mixed())
    expected = program.train(case).scores
    rows, scores = tmp_path / "texts.csv.gz", tmp_path / "scores.csv"
    table = pd.read_csv(tmp_path / "rows.csv")
    table["f3"] = table["f3"].map(dict(enumerate("abcdefghijkl")))
    table.to_csv(rows, index=False)
    line = arguments(replace(case, categorical=()))
    done = program.run("--data", rows, "--scores", scores, *line)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.loadtxt(scores, delimiter=",", skiprows=1), expected)


@BOTH
@pytest.mark.parametrize(
    "rows", [cancer(), wine(), weighted(mixed())], ids=["cancer", "wine", "mixed"]
)
@pytest.mark.parametrize("rounds_per_step", ["1", "2"])
def test_folds_without_constraints_are_stock_trainings_of_their_own(
    program, library, rows, rounds_per_step
):
    line = ["--folds", "5", "--seed", "3", "--rounds-per-step", rounds_per_step]
    run = program.train(training(library, rows), *line)
    assert run.result["rounds"] == [20] * 5
    sizes = np.bincount(run.fold_of_row)
    assert len(sizes) == 5
    assert np.ptp(sizes) <= 1
    check_stock(run, training(library, rows))


def best_round(case: Training, unseen: Training, patience: int) -> int:
    """By the stock library's own early stopping."""
    if case.library == "lightgbm":
        parameters = case.all_parameters | {"metric": "binary_logloss"}
        data = lgb.Dataset(case.features, case.outcome, params=parameters)
        held_out = data.create_valid(unseen.features, unseen.outcome)
        stop = lgb.early_stopping(patience, verbose=False)
        booster = lgb.train(parameters, data, case.rounds, [held_out], callbacks=[stop])
        return booster.best_iteration
    data = xgb.QuantileDMatrix(case.features, case.outcome, nthread=1)
    held_out = xgb.QuantileDMatrix(unseen.features, unseen.outcome, ref=data, nthread=1)
    booster = xgb.train(
        case.all_parameters,
        data,
        case.rounds,
        evals=[(held_out, "held_out")],
        early_stopping_rounds=patience,
        verbose_eval=False,
    )
    return booster.best_iteration + 1


@BOTH
def test_early_stopping_is_the_stock_librarys(program, library, tmp_path):
    rows = cancer()
    case, unseen = (
        training(library, rows | {name: rows[name][part::2] for name in ("features", "outcome")})
        for part in (0, 1)
    )
    case = replace(case, rounds=300)
    held_out = tmp_path / "held_out.csv"
    write_rows(unseen, held_out)
    run = program.train(case, "--held-out", held_out, "--early-stopping", "8")
    assert run.result["reason"] == "early_stopped"
    assert "has not fallen in the 8 rounds since" in run.result["detail"]
    assert run.result["rounds"] == [best_round(case, unseen, patience=8)]
    check_stock(run, replace(case, rounds=run.result["rounds"][0]))


# ---- with constraints


def check_multipliers(run: Run) -> None:
    multipliers = np.array(run.result["multipliers"])
    assert np.isfinite(multipliers).all()
    assert (multipliers >= 0).all()


@BOTH
@pytest.mark.parametrize("rounds_per_step", ["1", "3"])
def test_limits_come_to_hold_on_the_training_rows(program, library, rounds_per_step):
    rows, groups = diabetes()
    limits = ["fnr <= 30%", "error(sex=a) <= 40%", "fpr <= 99%"]
    line = ["--rounds-per-step", rounds_per_step, "--surrogate", "logistic_base2"]
    line += words("--constraint", limits)
    run = program.train(training(library, rows, rounds=150), *line, groups=groups)
    history = run.result["history"]
    assert history[0]["surrogate_violation"] > 0.3
    assert history[-1]["surrogate_violation"] < 1e-3
    assert max(row["max_multiplier"] for row in history) > 0.1
    check_multipliers(run)
    for limit in run.result["constraints"]:
        assert limit["training"]["satisfied"]
    assert run.result["multipliers"][2] == 0.0  # slack all along


@BOTH
@pytest.mark.parametrize("learning", [wine, mixed])
def test_limits_on_classes_come_to_hold(program, library, learning):
    limits = ["error(class=1) <= 12%", "error <= 99%"]
    run = program.train(training(library, learning(), rounds=150), *words("--constraint", limits))
    assert run.result["history"][0]["surrogate_violation"] > 0.5
    assert run.result["history"][-1]["surrogate_violation"] < 1e-3
    check_multipliers(run)
    assert run.result["multipliers"][1] == 0.0


@BOTH
def test_a_gap_between_groups_is_closed(program, library):
    """Half of the labels of one group are wrong, so that its loss is far above the other's."""
    rows, groups = diabetes()
    in_a = groups["sex"] == "a"
    wrong = in_a & (np.arange(len(in_a)) % 2 == 0)
    rows["outcome"] = np.where(wrong, 1 - rows["outcome"], rows["outcome"])
    case = training(library, rows, rounds=60)
    plain = program.train(replace(case, rounds=15), groups=groups).scores[:, 0]
    loss = np.logaddexp(0, np.where(rows["outcome"] == 1, -plain, plain))
    assert loss[in_a].mean() - loss[~in_a].mean() > 0.06
    line = ["--solver", "cbpr", "--form", "linearized"]
    run = program.train(case, *line, "--constraint", "gap(loss, by=sex) <= 0.02", groups=groups)
    (gap,) = run.result["constraints"]
    assert gap["training"]["value"] < 0.025
    assert len(gap["multipliers"]) == 2  # a minus b, and b minus a
    check_multipliers(run)
    assert run.result["objective"] < loss.mean()


@BOTH
def test_early_stopping_under_a_limit_ends_at_the_lowest_loss(program, library):
    case = training(library, cancer(), rounds=300)
    line = ["--constraint", "fnr <= 5%", "--dual-step", "0.1", "--early-stopping", "6"]
    run = program.train(case, *line, "--folds", "4", "--rounds-per-step", "2")
    assert run.result["reason"] == "early_stopped"
    losses = [row["objective"] for row in run.result["history"]]
    assert run.result["objective"] == pytest.approx(min(losses), rel=1e-6)
    assert run.result["rounds"] == [2 * np.argmin(losses)] * 4


@BOTH
@pytest.mark.parametrize("rows", [cancer(), wine()], ids=["cancer", "wine"])
def test_a_slack_limit_changes_nothing_but_the_proximal_term(program, library, rows):
    """With a long primal step that term is nothing too. Derivatives are floats in both runs, but
    in the constrained one they come from float arithmetic."""
    case = training(library, rows)
    slack = ("--constraint", "loss <= 2")
    without = program.train(case).scores
    run = program.train(case, *slack, "--primal-step", "1e12")
    assert run.result["multipliers"] == [0.0]
    np.testing.assert_allclose(run.scores, without, rtol=0, atol=1e-4)
    near = program.train(case, *slack, "--primal-step", "2").scores
    assert np.abs(near - without).max() > 0.01
    assert np.ptp(near) < np.ptp(without)  # held back


@BOTH
def test_folds_hold_a_limit_on_rows_that_they_have_not_seen(program, library):
    rows = cancer()
    case = training(library, rows, rounds=60)
    line = ["--folds", "5", "--dual-step", "0.1", "--surrogate", "sigmoid"]
    run = program.train(case, *line, "--constraint", "fnr <= 4%")
    plain = program.train(case, "--folds", "5")
    malignant = rows["outcome"] == 1
    missed = [np.mean(scores[malignant] <= 0) for scores in (run.scores, plain.scores)]
    assert missed[0] < missed[1]
    limit = run.result["constraints"][0]["out_of_fold"]
    assert limit["value"] == pytest.approx(missed[0])
    assert limit["satisfied"] == (missed[0] <= 0.04)
    assert run.result["history"][-1]["out_of_fold"] == [limit["value"]]
    check_multipliers(run)


# ---- errors


@pytest.fixture
def complaint(program: Program, tmp_path: Path):
    """Runs the program, expects it to fail as it should, and returns what it says on stderr."""

    def run(case: Training, *line: str, **variables: str) -> str:
        write_rows(case, tmp_path / "rows.csv")
        outputs = ["--out-model", tmp_path / "model.ubj", "--scores", tmp_path / "scores.csv"]
        line = ["--data", tmp_path / "rows.csv", *arguments(case), *outputs, *line]
        done = program.run(*line, **variables)
        assert done.returncode == 1
        assert done.stdout == ""
        assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
        assert done.stderr.startswith("constrained_boosting: ")
        return done.stderr

    return run


@BOTH
def test_a_library_that_is_not_there(complaint, library):
    variable = f"BREGBOOST_{library.upper()}"
    text = complaint(training(library, wine()), **{variable: "/nowhere/at/all.so"})
    assert f"{variable}=/nowhere/at/all.so: no such file" in text
    assert f"pip install '{library}>=" in text
    assert "/nowhere/else.so" in complaint(
        training(library, wine()), "--library", "/nowhere/else.so"
    )


REFUSED = [
    ("lightgbm", cancer(), "objective=regression", "allowed with two classes: binary"),
    ("lightgbm", wine(), "objective=multiclassova num_class=3", "one-vs-all"),
    ("lightgbm", cancer(), "linear_tree=true", "linear leaves"),
    ("lightgbm", cancer(), "boosting=dart", "re-weights earlier trees"),
    ("lightgbm", cancer(), "boosting=rf", "allowed: gbdt, goss"),
    ("lightgbm", cancer(), "scale_pos_weight=3", "allowed: 1 (constraints set the class weights"),
    ("lightgbm", cancer(), "pos_bagging_fraction=0.5", "LightGBM draws by class for its own"),
    (
        "lightgbm",
        cancer(),
        "num_leavess=3",
        "allowed: what this LightGBM knows, such as num_leaves",
    ),
    ("xgboost", cancer(), "objective=reg:squarederror", "binary:logistic"),
    ("xgboost", cancer(), "booster=gblinear", "linear learner"),
    ("xgboost", cancer(), "booster=dart", "re-weights earlier trees"),
    ("xgboost", wine(), "multi_strategy=multi_output_tree", "leaves that hold vectors"),
    ("xgboost", cancer(), "scale_pos_weight=3", "allowed: 1 (a class weight competes"),
    ("xgboost", cancer(), "max_dept=3", "allowed: what this XGBoost knows, such as max_depth"),
]


@pytest.mark.parametrize(("library", "rows", "parameters", "reason"), REFUSED)
def test_refused_parameters(complaint, library, rows, parameters, reason):
    text = complaint(training(library, rows), *words("--param", parameters.split()))
    assert parameters.split("=")[0] in text
    assert reason in text


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (["--solver", "simplex"], "solver: 'simplex'; allowed: abpp, cbpr"),
        (["--param", "eta"], "param: 'eta'; allowed: name=value"),
        (["--categorical", "colour"], "has no column 'colour'"),
        (["--early-stopping", "3"], "without a held-out set: 0"),
        (["--folds", "1"], "num_folds: 1"),
        (["--folds", "3", "--held-out", "x.csv"], "held-out: 'x.csv'"),
        (["--offset", "1", "--offset", "2"], "offsets"),
        (["--temperature", "0"], "temperature: 0"),
        (["--solver", "cbpr", "--average"], "average: true"),
        (["--rounds-per-step", "0"], "--rounds-per-step"),
        (["--constraint", "fnrr <= 5%"], "did you mean 'fnr'?"),
    ],
    ids=str,
)
def test_what_it_cannot_do_it_says(complaint, line, reason):
    assert reason in complaint(training("lightgbm", cancer(), rounds=2), *line)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (["--learner", "catboost"], "learner: 'catboost'; allowed: lightgbm, xgboost"),
        (["--learner", "xgboost", "--out-model", "model.txt"], "ends in .ubj"),
        (["--rounds", "2", "--scores", "no/folder/scores.csv"], "scores: cannot write"),
        (["--label", "colour"], "no column 'colour'"),
    ],
    ids=str,
)
def test_what_it_cannot_do_with_the_rows_it_says(program, tmp_path, line, reason):
    rows = tmp_path / "rows.csv"
    write_rows(training("lightgbm", cancer()), rows)
    label = () if "--label" in line else ("--label", "outcome")
    done = program.run("--data", rows, *label, *line)
    assert done.returncode == 1
    assert reason in done.stderr
    assert list(tmp_path.iterdir()) == [rows]


def test_held_out_rows_must_fit(complaint, program, tmp_path):
    case = training("lightgbm", wine())
    other = tmp_path.parent / "other.csv"
    write_rows(replace(case, features=case.features[:, 1:]), other)
    assert "has no column 'f12'" in complaint(case, "--held-out", other)
    write_rows(replace(case, outcome=case.outcome + 1), other)
    assert "column 'outcome': '3'" in complaint(case, "--held-out", other)


# ---- more rows


def dry_beans(data_dir: Path) -> dict:
    path = data_dir / "drybean.csv.xz"
    if not path.is_file():
        pytest.skip(f"{path} is missing: set BREGBOOST_DATA to the directory that has it")
    table = pd.read_csv(path)
    codes = np.unique(table.pop("Class"), return_inverse=True)[1]
    return {"kind": "multiclass", "features": table.to_numpy(float), "outcome": codes}


@pytest.mark.slow
@BOTH
def test_seven_classes(program, library, data_dir):
    case = training(library, dry_beans(data_dir), rounds=40)
    check_stock(program.train(case), case)
    check_stock(program.train(case, "--folds", "5"), case)


@pytest.mark.slow
@BOTH
def test_seven_classes_with_limits_on_four(program, library, data_dir):
    case = training(library, dry_beans(data_dir), rounds=150)
    bounds = {1: 1, 2: 3, 3: 2, 4: 2}
    limits = [f"error(class={code}) <= {bound}%" for code, bound in bounds.items()]
    line = [*words("--constraint", limits), "--surrogate", "logistic_base2"]
    run = program.train(case, *line)
    check_multipliers(run)
    violations = [row["surrogate_violation"] for row in run.result["history"]]
    assert violations[-1] < 0.1 * violations[0]
    assert all(limit["training"]["satisfied"] for limit in run.result["constraints"])
