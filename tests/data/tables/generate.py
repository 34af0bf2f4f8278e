"""Write the corpus of messy tables: small files as people have them, and what each should give.

    python tests/data/tables/generate.py

`outcomes.json` has, for each file: options of `labelens embed`, the number of features, the task,
words that have to be told, and `sql`: whether the model can be exported to SQL (null: it can, but
databases cannot read some cells of the file). `onnx`: whether it can be exported to ONNX. `stream`
has words of the message where the file cannot be read in chunks, `error` where it is rejected.
"""

import gzip
import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
N = 48
OUTCOMES = {}


def base(seed=0, classes=("left", "right", "up")):
    """Two informative numbers, and a label."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(classes), N)
    a = rng.normal(size=N).round(3) + 2 * (y == 0)
    b = rng.normal(size=N).round(3) + 2 * (y == 1)
    return pd.DataFrame({"a": a.round(3), "b": b.round(3), "y": np.array(classes)[y]}), rng


def keep(
    name, content, features=None, task="classes", told=(), options=(), sql=True, onnx=True,
    stream=None, error=None,
):  # fmt: skip
    """A file, by its bytes, its text or its frame."""
    path = HERE / name
    if isinstance(content, pd.DataFrame):
        if name.endswith(".parquet"):
            content.to_parquet(path, index=False)
        elif name.endswith(".feather"):
            content.to_feather(path)
        elif name.endswith(".jsonl"):
            content.to_json(path, orient="records", lines=True)
        else:
            path.write_text(content.to_csv(index=False))
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content)
    label = [] if "--label" in options or "--labels" in options else ["--label", "y"]
    outcome = {"options": [*label, *options], "features": features, "task": task}
    outcome |= {"told": list(told), "sql": sql, "onnx": onnx, "stream": stream, "error": error}
    OUTCOMES[name] = outcome


def column(name, values, features, told=(), sql=True, options=(), **more):
    """The base with one more column."""
    frame, rng = base()
    values = values(frame, rng) if callable(values) else values
    keep(name, frame.assign(c=values), 2 + features, told=told, sql=sql, options=options, **more)


def some(values, rng, share=0.2):
    """With gaps."""
    return [
        None if gone else value for value, gone in zip(values, rng.random(N) < share, strict=True)
    ]


def separators():
    frame, _ = base()
    text = frame.to_csv(index=False)
    keep("plain.csv", frame, 2)
    keep("semicolon.csv", text.replace(",", ";"), 2)
    keep("decimal_comma.csv", text.replace(",", ";").replace(".", ","), 2)
    keep("tabs.tsv", text.replace(",", "\t"), 2)
    keep("bars.csv", text.replace(",", "|"), 2)
    keep("spaces.txt", text.replace(",", "   "), 2)
    keep("comments.dat", "# by a program\n# 2020\n" + text.replace(",", " "), 2)
    keep("windows.csv", frame.assign(y=frame.y + "é").to_csv(index=False).encode("cp1252"), 2,
         told=["read as cp1252"])  # fmt: skip
    keep("utf16.csv", text.encode("utf-16"), 2, told=["read as utf-16"])
    keep("mark.csv", b"\xef\xbb\xbf" + text.encode(), 2)
    keep("crlf.csv", text.replace("\n", "\r\n").encode(), 2)
    keep("headless.csv", text.partition("\n")[2], 2, told=["no line of column names"],
         options=["--label", "x2"])  # fmt: skip
    keep("packed.csv.gz", gzip.compress(text.encode(), mtime=0), 2)
    with zipfile.ZipFile(HERE / "packed.csv.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo("data.csv", (2020, 1, 1, 0, 0, 0)), text)
    keep("packed.csv.zip", (HERE / "packed.csv.zip").read_bytes(), 2)
    keep("lines.jsonl", frame, 2, stream="none of the kinds of file that can be read in chunks")
    keep("row_names.txt", frame.to_csv(sep=" ", index_label=False), 2,
         told=["row numbers: 'Unnamed: 0'"])  # fmt: skip
    keep("late_accent.csv", frame.assign(c=["plain"] * (N - 1) + ["\u00e9t\u00e9"]).to_csv(
        index=False).encode("cp1252"), 4, told=["read as cp1252"])  # fmt: skip
    keep("columns.parquet", frame, 2)
    keep("columns.feather", frame, 2)
    quoted = 'a,b,"the, ""note""",y\n'
    rows = "".join(f'{r.a},{r.b},"two\nlines",{r.y}\n' for r in frame.itertuples())
    keep("quoted.csv", quoted + rows, 3)


def columns():
    column("question_marks.csv", lambda f, r: np.where(r.random(N) < 0.2, "?", f.a.astype(str)), 2,
           told=["(gaps: '?')"])  # fmt: skip
    column("dashes.csv", lambda f, r: np.where(r.random(N) < 0.2, "-", f.a.astype(str)), 2,
           told=["(gaps: '-')"])  # fmt: skip
    column("own_marker.csv", lambda f, r: np.where(r.random(N) < 0.2, "-999", f.a.astype(str)), 2,
           options=["--na", "-999"])  # fmt: skip
    column(
        "mistyped.csv", lambda f, r: [*f.a.astype(str)[1:], "1.2O"], 2, told=["'1.2O'"], sql=None
    )
    column("gaps.csv", lambda f, r: some(f.a, r), 2, told=["Gaps filled with the mean"])
    column("gaps_median.csv", lambda f, r: some(f.a, r), 2, options=["--impute", "median"])
    column("gaps_dropped.csv", lambda f, r: some(f.a, r), 1, options=["--impute", "drop"],
           told=["rows with missing values"], stream="use impute='mean' or 'median'")  # fmt: skip
    column("empty_column.csv", [None] * N, 0, told=["without any value: 'c'"])
    column("constant.csv", [7] * N, 1)
    column("truth.csv", lambda f, r: np.where(r.random(N) < 0.5, "True", "false"), 1)
    column("truth_gaps.csv", lambda f, r: some(np.where(r.random(N) < 0.5, "TRUE", "FALSE"), r), 2)
    column("yes_no.csv", lambda f, r: np.where(r.random(N) < 0.5, "yes", "no"), 2)
    column("category.csv", lambda f, r: r.choice(["red", "it's", "x=1"], N), 3)
    column("category_gaps.csv", lambda f, r: some(r.choice(["red", "blue"], N), r), 3)
    column("strands.csv", lambda f, r: r.choice(["+", "-"], N), 2)
    column("codes.csv", lambda f, r: [f"{v:03}" for v in r.integers(0, 50, N)], 1)
    column("dollars.csv", lambda f, r: [f"${1000 * abs(v):,.2f}" for v in f.a], 1)
    column("brackets.csv", lambda f, r: [f"({-v:.1f})" if v < 0 else f"{v:.1f}" for v in f.a], 1,
           sql=None)  # fmt: skip
    column("percent.csv", lambda f, r: [f"{abs(v) * 10:.1f} %" for v in f.a], 1)
    column("euros.csv", lambda f, r: [f"{1000 * v:.1f} €".replace(".", ",") for v in f.a], 1,
           sql=False)  # fmt: skip
    column("large.csv", lambda f, r: 1e15 + np.arange(N) * 3.5, 1)
    column("days.csv", pd.date_range("2020-01-01", periods=N).strftime("%Y-%m-%d"), 5,
           told=["Dates, as days and cycles: 'c'"], sql=False)  # fmt: skip
    column("times.csv", pd.date_range("2020-01-01", periods=N, freq="7h").astype(str), 7, sql=False)
    column(
        "american.csv", pd.date_range("2020-01-01", periods=N).strftime("%m/%d/%Y"), 5, sql=False
    )
    column("german.csv", pd.date_range("2020-01-01", periods=N).strftime("%d.%m.%Y"), 5, sql=False)
    column("named_months.csv", pd.date_range("2020-01-01", periods=N).strftime("%d-%b-%Y"), 5,
           told=["Dates, as days and cycles: 'c'"], sql=False)  # fmt: skip
    column("days_gaps.parquet", lambda f, r: some(pd.date_range("2020-01-01", periods=N), r), 6,
           sql=False)  # fmt: skip
    column("prose.csv", lambda f, r: [f"note {i} on {y}" for i, y in enumerate(f.y)], 32, sql=False,
           onnx=False, options=["--text"], told=["hashed letter triples: 'c'"])  # fmt: skip
    column("identifiers.csv", [f"k{i}" for i in range(N)], 0, told=["value in every row: 'c'"])
    column("row_numbers.csv", np.arange(N), 0, told=["row numbers: 'c'"])
    column("vectors.parquet", lambda f, r: list(r.normal(size=(N, 3)).round(2)), 3, sql=False)
    column("words.parquet", [["red", "blue"] if i % 2 else ["red"] for i in range(N)], 2, sql=None)
    column("copy.csv", lambda f, r: f.y.str.upper(), 3, told=["determines the label 'y'"])
    frame, _ = base()
    frame.insert(0, "", np.arange(N))
    keep("pandas_index.csv", frame, 2, told=["row numbers: 'Unnamed: 0'"])
    frame, _ = base()
    people = frame.assign(person=np.arange(N) // 4)
    keep("people.csv", people, 2, options=["--groups", "person"],
         stream="--groups and --nuisance are for rows that are read at once")  # fmt: skip
    keep("odd_names.csv", frame.rename(columns={"a": 'a "b"', "b": "x=1; drop"}), 2)


def labels():
    frame, _ = base()
    keep("whole_label.csv", frame.assign(y=(frame.a > 0).astype(int)), 2)
    keep("truth_label.csv", frame.assign(y=frame.a > 0), 2)
    keep("real_label.csv", frame.assign(y=(frame.a + frame.b) / 3), 2, "numbers")
    keep("forced.csv", frame.assign(y=(10 * frame.a).round().astype(int)), 2, "numbers",
         options=["--task", "numbers"])  # fmt: skip
    keep("label_gaps.csv", frame.assign(y=frame.y.where(frame.a < 2)), 2,
         told=["rows without a label"], stream="NaN at row 5")  # fmt: skip
    real = ((frame.a + frame.b) / 3).round(4).astype(str)
    few = np.arange(N) % 20 == 7
    chunks = "only rows that are read at once"
    keep("label_marks.csv", frame.assign(y=real.where(~few, "?")), 2, "numbers", stream=chunks,
         told=["'y' is read as numbers; other cells count as no label: '?'"])  # fmt: skip
    keep("label_dollars.csv", frame.assign(y=[f"${1e4 + 999 * v:,.2f}" for v in frame.a]), 2,
         "numbers", told=["'y' is read as numbers."], stream=chunks)  # fmt: skip
    keep("label_whole_marks.csv", frame.assign(y=np.where(few, "?", (frame.a > 0).astype(int))), 2,
         told=["other cells count as no label: '?'"], stream=chunks)  # fmt: skip
    keep("label_blanks.parquet", frame.assign(y=frame.y.where(~few, " ")), 2,
         told=["3 rows without a label"], stream=chunks)  # fmt: skip
    codes = frame.y.map({"left": "001", "right": "002", "up": "003"})
    keep("label_codes.parquet", frame.assign(y=codes), 2)
    keep("one_class.csv", frame.assign(y="same"), error="a single value")
    keep(
        "all_different.csv", frame.assign(y=[f"k{i}" for i in range(N)]), error="a different label"
    )
    keep("date_label.csv", frame.assign(y="2020-01-02"), error="is a date")
    keep("twice.csv", frame.to_csv(index=False).replace("a,b,y", "a,a,y"), error="two columns")
    keep("ragged.csv", frame.to_csv(index=False) + "1,2,3,4\n", error="has 4 values where 3")
    keep("nothing.csv", "", error="is empty")
    keep("no_rows.csv", "a,b,y\n", error="no rows")
    keep("infinite.csv", frame.assign(c=[np.inf, *frame.a[1:]]), error="holds infinity")


def main():
    separators()
    columns()
    labels()
    (HERE / "outcomes.json").write_text(json.dumps(OUTCOMES, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(OUTCOMES)} tables")


if __name__ == "__main__":
    main()
