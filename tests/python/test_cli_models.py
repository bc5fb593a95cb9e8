"""Models from the command line: plain ones, whose predictions are those of the stock libraries."""

import json

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from cli_program import make_table

LEARNERS = pytest.mark.parametrize("learner", ["lightgbm", "xgboost", "linear"])
LIMIT = ["--constraint", "fnr <= 20%", "--positive", "good"]


def codes(table: pd.DataFrame, encoding: dict) -> np.ndarray:
    """The features as the sidecar says, computed by pandas."""
    columns = []
    for feature in encoding["features"]:
        column = table[feature["name"]]
        if feature["kind"] == "categorical":
            known = {text: code for code, text in enumerate(feature["levels"])}
            column = column.astype(str).map(known)
        columns.append(column.astype(float))
    return np.column_stack(columns)


def stock_probabilities(folder, learner: str, features: np.ndarray) -> np.ndarray:
    """Of the second class, by the library itself."""
    if learner == "lightgbm":
        return lgb.Booster(model_file=folder / "model.txt").predict(features)
    booster = xgb.Booster(model_file=folder / "model.ubj")
    types = booster.feature_types
    names = booster.feature_names
    matrix = xgb.DMatrix(
        features, feature_names=names, feature_types=types, enable_categorical=True
    )
    return booster.predict(matrix)


@pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])
def test_predictions_are_those_of_the_stock_library(cli, learner):
    document = cli.train("--learner", learner, *LIMIT)
    cli.ok("predict", "--model", "run", "--data", "new.csv", "--out", "p.csv")
    predicted = pd.read_csv(cli.folder / "p.csv")
    table = pd.read_csv(cli.folder / "new.csv")
    features = codes(table, document["encoding"])
    stock = stock_probabilities(cli.folder / "run", learner, features)
    assert list(predicted) == ["label", "p(bad)", "p(good)"]
    assert len(predicted) == len(table)
    np.testing.assert_allclose(predicted["p(good)"], stock, rtol=0, atol=2e-6)
    np.testing.assert_allclose(predicted["p(good)"] + predicted["p(bad)"], 1, rtol=0, atol=1e-12)
    assert (predicted["label"] == np.where(stock > 0.5, "good", "bad")).all()


def test_a_dropped_group_is_a_group_and_no_feature(cli):
    limit = ["--constraint", "gap(selection_rate, by=group) <= 20%", "--positive", "good"]
    named = cli.train("--group", "group", *limit)
    dropped = cli.train("--drop", "group", "--force", *limit)
    both = cli.train("--drop", "group", "--group", "group", "--force", *limit)
    features = [feature["name"] for feature in named["encoding"]["features"]]
    assert features
    assert "group" not in features
    for document in (dropped, both):
        assert document["encoding"] == named["encoding"]
        assert document["fit"]["constraints"] == named["fit"]["constraints"]


def test_linear_predictions_are_the_products_of_the_file(cli):
    table = make_table(seed=2)[["age", "group", "label"]]
    table["group"] = (table["group"] == "a").astype(int)
    cli.write("rows.csv", table)
    cli.train("--learner", "linear", *LIMIT)
    cli.ok("predict", "--model", "run", "--data", "rows.csv", "--out", "p.csv")
    model = json.loads((cli.folder / "run" / "model.json").read_text())
    assert model["features"] == ["age", "group"]
    scores = table[model["features"]].to_numpy() @ model["coefficients"][0] + model["intercept"][0]
    predicted = pd.read_csv(cli.folder / "p.csv")
    np.testing.assert_allclose(predicted["p(good)"], 1 / (1 + np.exp(-scores)), atol=1e-12)


def test_columns_are_found_by_name(cli):
    cli.train(*LIMIT)
    table = pd.read_csv(cli.folder / "new.csv")
    shuffled = table[table.columns[::-1]].assign(unused=1)
    cli.write("shuffled.csv", shuffled.drop(columns="label"))
    for name in ("new", "shuffled"):
        cli.ok("predict", "--model", "run", "--data", f"{name}.csv", "--out", f"{name}.out")
    assert (cli.folder / "new.out").read_text() == (cli.folder / "shuffled.out").read_text()

    cli.write("less.csv", table.drop(columns="income"))
    done = cli.run("predict", "--model", "run", "--data", "less.csv", "--out", "less.out")
    assert done.returncode == 3
    assert "income" in done.stderr
    assert not (cli.folder / "less.out").exists()


def test_unknown_categories_are_missing_and_counted(cli):
    cli.train(*LIMIT)
    table = pd.read_csv(cli.folder / "new.csv")
    unknown, missing = table.copy(), table.copy()
    unknown.loc[:6, "city"] = "Atlantis"
    missing.loc[:6, "city"] = np.nan
    cli.write("unknown.csv", unknown)
    cli.write("missing.csv", missing)
    done = cli.run("predict", "--model", "run", "--data", "unknown.csv", "--out", "unknown.out")
    assert done.returncode == 0
    assert "7 row" in done.stderr
    assert "city" in done.stderr
    assert "Atlantis" in done.stderr
    cli.ok("predict", "--model", "run", "--data", "missing.csv", "--out", "missing.out")
    texts = [(cli.folder / f"{name}.out").read_text() for name in ("unknown", "missing")]
    assert texts[0] == texts[1]


@LEARNERS
def test_what_is_measured_again_is_what_predictions_show(cli, learner):
    if learner == "linear":
        for name in ("rows.csv", "new.csv"):
            table = pd.read_csv(cli.folder / name)
            cli.write(name, table.fillna(0).assign(city=(table["city"] == "Oslo").astype(int)))
    cli.train(
        "--learner", learner, "--group", "group", "--constraint", "fnr <= 20%",
        "--constraint", "gap(selection_rate, by=group) <= 10%",
    )  # fmt: skip
    found = cli.json("evaluate", "--model", "run", "--data", "new.csv")
    cli.ok("predict", "--model", "run", "--data", "new.csv", "--out", "p.csv")
    table = pd.read_csv(cli.folder / "new.csv")
    predicted = pd.read_csv(cli.folder / "p.csv")["label"]
    good = table["label"] == "good"
    assert found["rows"] == 300
    assert found["objective"] == pytest.approx((predicted == table["label"]).mean())
    fnr, gap = found["constraints"]
    assert fnr["value"] == pytest.approx((predicted[good] == "bad").mean())
    selected = [(predicted[table["group"] == group] == "good").mean() for group in "ab"]
    assert gap["value"] == pytest.approx(abs(selected[0] - selected[1]))
    assert [row["value"] for row in gap["groups"]] == pytest.approx(selected)
    assert found["holds"] == (fnr["satisfied"] and gap["satisfied"])


def test_several_classes_and_numbers_as_labels(cli):
    table = make_table(seed=3)
    table["label"] = pd.cut(table["age"], 3, labels=[2, 10, 1]).astype(int)
    cli.write("rows.csv", table)
    document = cli.train("--constraint", "error(class=10) <= 5%", "--drop", "city")
    assert document["encoding"]["classes"] == ["1", "2", "10"]
    assert "city" not in document["data"]["features"]
    cli.ok("predict", "--model", "run", "--data", "rows.csv", "--out", "p.csv")
    predicted = pd.read_csv(cli.folder / "p.csv")
    assert list(predicted) == ["label", "p(1)", "p(2)", "p(10)"]
    assert (predicted["label"] == table["label"]).mean() > 0.95


def test_a_numeric_target(cli):
    table = make_table(seed=4).drop(columns="label")
    cli.write("rows.csv", table.dropna())
    cli.ok(
        "train", "--data", "rows.csv", "--target", "age", "--out", "run", "--rounds", "20",
        "--constraint", "max(loss, by=group) <= 400",
    )  # fmt: skip
    cli.ok("predict", "--model", "run", "--data", "rows.csv", "--out", "-")
    found = cli.json("evaluate", "--model", "run", "--data", "rows.csv")
    assert found["objective_name"] == "loss"
    assert found["constraints"][0]["groups"]


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_compressed_files_are_the_same_rows(cli, suffix):
    table = make_table(seed=5)
    table.to_csv(cli.folder / "plain.csv", index=False)
    table.to_csv(cli.folder / f"packed.csv{suffix}", index=False)
    cli.train(*LIMIT, out="one", data="plain.csv")
    cli.train(*LIMIT, out="two", data=f"packed.csv{suffix}")
    models = [(cli.folder / run / "model.txt").read_text() for run in ("one", "two")]
    assert models[0] == models[1]


def test_libsvm_text(cli):
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(800):
        x = rng.normal(size=3)
        label = int(x[0] + rng.logistic() > 0)
        lines.append(f"{label} " + " ".join(f"{j + 1}:{value:.6g}" for j, value in enumerate(x)))
    (cli.folder / "rows.libsvm").write_text("\n".join(lines) + "\n")
    cli.ok(
        "train", "--data", "rows.libsvm", "--constraint", "fnr <= 10%", "--out", "run",
        "--rounds", "10",
    )  # fmt: skip
    cli.ok("predict", "--model", "run", "--data", "rows.libsvm", "--out", "p.csv")
    assert len(pd.read_csv(cli.folder / "p.csv")) == 800


def test_the_same_seed_gives_the_same_bytes(cli):
    for out in ("one", "two"):
        cli.train(*LIMIT, "--seed", "7", "--threads", "1", out=out)
    models = [(cli.folder / out / "model.txt").read_bytes() for out in ("one", "two")]
    assert models[0] == models[1]
