"""Folders and files of somebody else's: what they say is refused where it would read, write or run
anything but themselves."""

import ast
import json
import os
import pickle
from pathlib import Path

import bregboost
import pytest
from bregboost import Report
from cli_program import Program

USAGE, DATA = 2, 3
PREDICT = ["predict", "--model", "run", "--data", "new.csv", "--out", "predicted.csv"]
REPORT = ["report", "--run", "run", "--out", "page.html"]
LINEAR = ["--learner", "linear", "--drop", "city", "--drop", "income", "--drop", "group"]


def line(cli: Program, arguments: list[str], code: int = DATA) -> str:
    """What the program says when it refuses, having written nothing."""
    before = sorted(path.name for path in cli.folder.iterdir())
    done = cli.run(*arguments)
    assert done.returncode == code, done.stderr
    assert sorted(path.name for path in cli.folder.iterdir()) == before
    return done.stderr.strip().splitlines()[-1].removeprefix("bregboost: ")


@pytest.fixture
def run(cli: Program) -> Path:
    cli.train(*LINEAR)
    return cli.folder / "run"


def change(run: Path, part: str, name: str, value: str) -> None:
    path = run / "bregboost.json"
    document = json.loads(path.read_text())
    document[part][name] = value
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    "name", ["../../model.json", "/etc/passwd", "..", ".", "", "a/b", "a\\b", "model.json\0.txt"]
)
def test_models_are_beside_their_documents(cli, run, name):
    change(run, "model", "file", name)
    for command in (PREDICT, REPORT):
        assert line(cli, command) == (
            f"'run/bregboost.json': model.file: {json.dumps(name)}; allowed: the name of a file, "
            "without a folder"
        )


def test_models_have_the_name_of_their_learner(cli, run):
    (run / "other.json").write_text((run / "model.json").read_text())
    change(run, "model", "file", "other.json")
    assert line(cli, PREDICT) == (
        "'run/bregboost.json': model.file: 'other.json'; allowed for the learner linear: model.json"
    )


@pytest.mark.parametrize("learner", ["../../x", "/x", "linear/../linear"])
def test_learners_are_no_paths(cli, run, learner):
    change(run, "settings", "learner", learner)
    assert line(cli, PREDICT) == (
        f"'run/bregboost.json': settings.learner: '{learner}'; allowed: lightgbm, xgboost, linear"
    )


def test_configs_name_learners_and_no_paths(cli):
    (cli.folder / "config.json").write_text(json.dumps({"learner": "../../x", "model": "../x"}))
    train = ["train", "--data", "rows.csv", "--label", "label", "--out", "o", "--config"]
    assert line(cli, [*train, "config.json"], USAGE) == (
        "config: 'config.json': model: no flag of `bregboost train`, see its --help"
    )
    (cli.folder / "config.json").write_text(json.dumps({"learner": "../../x"}))
    assert line(cli, [*train, "config.json"], USAGE).startswith("learner: '../../x'; allowed: ")


@pytest.mark.parametrize("file", ["model.json", "bregboost.json"])
def test_links_do_not_lead_out_of_the_folder(cli, run, file):
    (run / file).rename(cli.folder / "elsewhere")
    (run / file).symlink_to("../elsewhere")
    assert line(cli, PREDICT) == (
        f"'run/{file}': a link to '{(cli.folder / 'elsewhere').resolve()}'; allowed: a file of the "
        "folder"
    )


def test_links_within_the_folder_and_to_it_are_followed(cli, run):
    """As in volumes of Kubernetes."""
    (run / "..data").mkdir()
    (run / "model.json").rename(run / "..data" / "model.json")
    (run / "model.json").symlink_to("..data/model.json")
    run.rename(cli.folder / "moved")
    run.symlink_to("moved")
    cli.ok(*PREDICT)


@pytest.mark.parametrize("file", ["model.json", "bregboost.json"])
def test_pipes_are_not_waited_for(cli, run, file):
    (run / file).unlink()
    os.mkfifo(run / file)
    assert line(cli, PREDICT) == f"'run/{file}': cannot be read"


def test_links_in_the_place_of_results_are_replaced_and_not_followed(cli, run):
    kept = cli.folder / "kept"
    kept.mkdir()
    (kept / "file").write_text("as it was")
    (cli.folder / "linked").symlink_to("kept")
    cli.train(*LINEAR, "--force", out="linked")
    assert not (cli.folder / "linked").is_symlink()
    (cli.folder / "predicted.csv").symlink_to("kept/file")
    cli.ok(*PREDICT, "--force")
    assert not (cli.folder / "predicted.csv").is_symlink()
    assert [path.name for path in kept.iterdir()] == ["file"]
    assert (kept / "file").read_text() == "as it was"


def test_links_in_the_place_of_unfinished_files_are_refused(cli, run):
    victim = cli.folder / "victim"
    victim.write_text("as it was")
    (cli.folder / "predicted.csv.part").symlink_to("victim")
    done = cli.run(*PREDICT)
    assert done.returncode == 5
    assert "predicted.csv.part" in done.stderr
    (cli.folder / "checkpoints").mkdir()
    (cli.folder / "checkpoints" / "training.checkpoint.new").symlink_to("../victim")
    train = ["train", "--data", "rows.csv", "--label", "label", "--rounds", "20", "--out", "out"]
    done = cli.run(*train, "--checkpoint-dir", "checkpoints", "--checkpoint-every", "5")
    assert done.returncode != 0
    assert "cannot be written" in done.stderr
    assert victim.read_text() == "as it was"


class Runs:
    """What a pickle can do."""

    def __reduce__(self) -> tuple:
        return os.mkdir, ("it_ran",)


def test_reports_are_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, contents in {
        "pickle": pickle.dumps(Runs()),
        "call": b"__import__('os').mkdir('it_ran')",
        "nested": b"[" * 100_000,
        "another": b"{}",
    }.items():
        (tmp_path / name).write_bytes(contents)
        with pytest.raises(ValueError, match=rf"path: .*{name}; allowed: "):
            Report.load(tmp_path / name)
    assert not (tmp_path / "it_ran").exists()


def test_the_package_has_nothing_that_runs_data():
    runs = {"eval", "exec", "compile", "__import__"}
    loads = {("pickle", "load"), ("pickle", "loads"), ("marshal", "loads"), ("joblib", "load")}
    loads |= {("yaml", "load"), ("cloudpickle", "load"), ("cloudpickle", "loads")}
    sources = list(Path(bregboost.__file__).parent.rglob("*.py"))
    assert len(sources) > 20
    for source in sources:
        for node in ast.walk(ast.parse(source.read_text())):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            if isinstance(called, ast.Name):
                assert called.id not in runs, source
            elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                assert (called.value.id, called.attr) not in loads, source
