#!/usr/bin/env python3
"""Measures how much memory a gate takes at its peak, over recorded answers and the judge `offline`.

    cargo build --release -p cargo-rageval
    cargo bench -p rageval-runner --bench stored_replies --no-run       # for `test`: the same gate in a test binary
    python3 benches/memory.py                                           # 1,000 and 10,000 cases
    python3 benches/memory.py --cases 100000 --ways run test gate report

Builds nothing. Five judged metrics and three of the retrieval, five contexts of about 400 characters; answers stand in a file of samples, or with
`--inline` in the cases. `run` is `cargo rageval run`, `test` a test binary, `gate` and `report` are the commands of these names over the run
that was made first. Files are made in a temporary folder and removed: 100,000 cases take about 2.5 GB there. Each run is ended after
`--limit` seconds. The peak is that of the resident set, as the kernel tells it of an ended process (not on Windows).
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))

JUDGED = ["faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness"]
RETRIEVAL = ["recall@5", "ndcg@5", "mrr"]
POLICY = """version: 1
system: {{kind: recorded, generator: g{samples}}}
snapshots: {{fail_on: never}}
judge: {{provider: offline}}
waive: {{calibration: {{reason: a fixture, until: 2999-12-31}}}}
metrics:
{metrics}
"""
WORDS = (
    "parcel road desk hall week euro insurance weight colour morning return label driver receipt customs counter window street "
    "paper ticket metal bridge river market garden letter office number signal winter summer engine carton pallet scale ledger"
).split()


def project(folder, cases, inline):
    rules = "{min: 0, mean: {min: 0}, bottom10: {min: 0}}"
    metrics = "\n".join(f"  {metric}: {rules}" for metric in JUDGED + RETRIEVAL)
    samples = "" if inline else ", samples: answers.jsonl"
    (folder / "Cargo.toml").write_text("[workspace]\n")
    (folder / "thresholds.yaml").write_text(POLICY.format(samples=samples, metrics=metrics))
    (folder / "cases").mkdir()
    draw = random.Random(0)
    word = lambda: draw.choice(WORDS)
    sentences = [f" The {word()} of the {word()} is beside the {word()} {draw.randint(1, 999)}." for _ in range(2000)]
    with open(folder / "cases" / "all.jsonl", "w") as set_, open(folder / "answers.jsonl", "w") as answers:
        for n in range(cases):
            contexts = []
            for c in range(5):
                text = f"Parcel {n} is blue and weighs {c + 3} kilograms."
                while len(text) < 400:
                    text += draw.choice(sentences)
                contexts.append({"id": f"d{n}-{c}", "text": text})
            answer = {
                "response": f"Parcel {n} is blue. It weighs 3 kilograms. It was sent by road.",
                "retrieved_contexts": contexts,
            }
            case = {
                "id": f"c{n}",
                "query": f"What colour is parcel {n}, and what does it weigh?",
                "language": "en",
                "ground_truth_answer": f"Parcel {n} is blue and weighs 3 kilograms.",
                "relevant_doc_ids": [f"d{n}-0", f"d{n}-2"],
            }
            set_.write(json.dumps({**case, **answer} if inline else case) + "\n")
            if not inline:
                answers.write(json.dumps({"id": case["id"], **answer}) + "\n")
    if inline:
        (folder / "answers.jsonl").unlink()


def test_binary():
    found = [p for p in (TARGET / "release" / "deps").glob("stored_replies-*") if os.access(p, os.X_OK) and p.suffix in ("", ".exe")]
    if not found:
        sys.exit("no test binary; see the top of this script")
    return max(found, key=lambda p: p.stat().st_mtime)


def measured(command, folder, environment, limit):
    """Peak of the resident set in MiB, seconds by the clock, seconds of the processor; of a process that passed."""
    started = time.perf_counter()
    with open(folder / "said", "w") as said:
        child = subprocess.Popen(command, cwd=folder, env=environment, stdout=said, stderr=said)
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.perf_counter() - started > limit:
                child.kill()
                os.wait4(child.pid, 0)
                sys.exit(f"{command}: not done after {limit} s")
            time.sleep(0.02)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command}: exit {child.returncode}\n{(folder / 'said').read_text()[-2000:]}")
    kib = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return kib / 1024, time.perf_counter() - started, usage.ru_utime + usage.ru_stime


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--cases", type=int, nargs="+", default=[1000, 10000])
    ask.add_argument("--ways", nargs="+", choices=["run", "test", "gate", "report"], default=["run", "test"])
    ask.add_argument("--inline", action="store_true", help="answers stand in the cases")
    ask.add_argument("--command", default=str(TARGET / "release" / "cargo-rageval"), help="the command that is measured")
    ask.add_argument("--test-binary", help="the test binary that is measured")
    ask.add_argument("--limit", type=int, default=1800, help="seconds")
    given = ask.parse_args()
    print(f"{'cases':>8} {'way':>7} {'peak MiB':>9} {'KiB a case':>11} {'wall s':>7} {'CPU s':>7} {'CPU ms a case':>14} {'run.json MiB':>13}")
    for cases in given.cases:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            project(folder, cases, given.inline)
            runs = folder / "runs"
            environment = {**os.environ, "CI": "true", "CARGO_MANIFEST_DIR": name, "RAGEVAL_RUNS": str(runs), "RAGEVAL_GATE": "1"}
            for variable in ("NEXTEST_RUN_ID", "RAGEVAL_JUDGE_MODE", "RAGEVAL_SHARD"):
                environment.pop(variable, None)
            binary = os.path.abspath(given.command)
            commands = {
                "run": [binary, "rageval", "run"],
                "gate": [binary, "rageval", "gate"],
                "report": [binary, "rageval", "report", "--format", "markdown"],
            }
            for way in given.ways:
                command = commands.get(way) or [os.path.abspath(given.test_binary or test_binary()), "-q"]
                peak, wall, used = measured(command, folder, environment, given.limit)
                written = max((p.stat().st_size for p in runs.glob("*/*/run.json")), default=0) / 2**20
                each = [peak * 1024 / cases, wall, used, used * 1000 / cases, written]
                print(f"{cases:>8} {way:>7} {peak:>9.0f} {each[0]:>11.1f} {each[1]:>7.1f} {each[2]:>7.1f} {each[3]:>14.3f} {each[4]:>13.0f}", flush=True)


if __name__ == "__main__":
    main()
