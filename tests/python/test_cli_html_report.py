"""The program's report and the Python package's are the same file."""

import json

from bregboost import ConstrainedClassifier
from bregboost._report import Report
from cli_program import Program, make_table


def test_python_and_the_program_write_the_same_bytes(cli: Program) -> None:
    table = make_table()
    X = table[["age", "income"]].fillna(0.0)
    model = ConstrainedClassifier("linear", "gap(error, by=group) <= 20%")
    model.fit(X, table["label"], sensitive_features=table[["group"]])
    frontier = model.frontier(
        X, table["label"], sensitive_features=table[["group"]], bounds=[0.1, 0.2], models=False
    )
    page = model.report_.to_html(title="Łódź & <Oslo>", frontier=frontier)
    document = model.report_.run_document(title="Łódź & <Oslo>", frontier=frontier)
    folder = cli.folder / "from_python"
    folder.mkdir()
    (folder / "bregboost.json").write_text(json.dumps(document), encoding="utf-8")
    cli.ok("report", "--run", "from_python", "--out", "page.html")
    assert (cli.folder / "page.html").read_text(encoding="utf-8") == page


def test_python_reads_what_the_program_leaves(cli: Program) -> None:
    document = cli.train("--constraint", "fnr <= 20%")
    report = Report(
        document["fit"]
        | {key: document[key] for key in ("data", "settings", "unconstrained", "versions")}
    )
    page = report.to_html(title=document["title"])
    assert page == (cli.folder / "run" / "report.html").read_text(encoding="utf-8")
