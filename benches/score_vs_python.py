#!/usr/bin/env python3
"""Times `cargo-rageval score` beside plain Python with sets, on the same queries in one run.

    cargo build --release -p cargo-rageval
    python3 benches/score_vs_python.py                       # 50,000 queries x 100 documents
    python3 benches/score_vs_python.py --queries 1000000 --no-python

Recall@10, nDCG@10, MAP and MRR of every query, (a) from lists in memory, (b) from JSON lines, (c) from TREC files. Files are made in a
temporary folder and removed. Python keeps its sets and dictionaries ready for (a); Rust starts from lists of ids that are borrowed from the
file's text, or, where it says `prepared`, with its own tables ready too, or, where it says `strings`, from lists of ids that are each a
`String`; both on one thread. Python's time for (b) and (c)
leaves the start of the interpreter out; Rust's is the whole process. Each figure is the best of the rounds, of (a) by the clock and of the processor apart. `ratio` compares wall times and
means something on a quiet machine only; `cpu ratio` compares processor time, in which Rust's threads gain nothing.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from math import log2

DOCUMENTS = 100
METRICS = "recall@10,ndcg@10,map,mrr"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def recall(ranking, relevant, k):
    return len(relevant.intersection(ranking[:k])) / len(relevant)


def ndcg(ranking, grades, k):
    gain = sum(grades[d] / log2(i + 2) for i, d in enumerate(ranking[:k]) if d in grades)
    best = sorted(grades.values(), reverse=True)[:k]
    return gain / sum(g / log2(i + 2) for i, g in enumerate(best))


def average_precision(ranking, relevant):
    hits = 0
    total = 0.0
    for i, d in enumerate(ranking, 1):
        if d in relevant:
            hits += 1
            total += hits / i
    return total / len(relevant)


def reciprocal_rank(ranking, relevant):
    for i, d in enumerate(ranking, 1):
        if d in relevant:
            return 1 / i
    return 0.0


def four(ranking, relevant, grades):
    return (
        recall(ranking, relevant, 10),
        ndcg(ranking, grades, 10),
        average_precision(ranking, relevant),
        reciprocal_rank(ranking, relevant),
    )


def means(rows, count):
    sums = [0.0] * 4
    for row in rows:
        for i, value in enumerate(row):
            sums[i] += value
    return [s / count for s in sums]


def query(rng, number):
    """Ids look like those of a chunked corpus; 1 to 9 relevant documents, most of them retrieved."""
    start = rng.randrange(1_000_000)
    step = rng.randrange(1, 5000) * 2 + 1
    ranking = [f"doc-{(start + i * step) % 1_000_003:07d}" for i in range(DOCUMENTS)]
    relevant = {f"doc-{1_000_003 + i:07d}": 1 for i in range(rng.randrange(0, 3))}
    for _ in range(rng.randrange(1, 8)):
        relevant[ranking[min(int(rng.expovariate(0.08)), DOCUMENTS - 1)]] = 1 + rng.randrange(3)
    return f"q-{number:07d}", ranking, relevant


def write_files(folder, count):
    samples, qrels, run = (os.path.join(folder, name) for name in ("samples.jsonl", "qrels.txt", "run.txt"))
    rng = random.Random(0)
    tail = [f" {i} {1000 - i * 7}.{i % 10}5 bench\n" for i in range(1, DOCUMENTS + 1)]
    with open(samples, "w") as s, open(qrels, "w") as q, open(run, "w") as r:
        for number in range(count):
            name, ranking, grades = query(rng, number)
            judged = [{"id": d, "grade": g} for d, g in grades.items()]
            s.write(json.dumps({"id": name, "relevant_doc_ids": judged, "retrieved": ranking}) + "\n")
            q.write("".join(f"{name} 0 {d} {g}\n" for d, g in grades.items()))
            head = f"{name} Q0 "
            r.write("".join([head + d + t for d, t in zip(ranking, tail)]))
    return samples, qrels, run


def python_from_memory(samples):
    queries = []
    with open(samples) as file:
        for line in file:
            sample = json.loads(line)
            grades = {d["id"]: d["grade"] for d in sample["relevant_doc_ids"]}
            queries.append((sample["retrieved"], set(grades), grades))
    start, cpu = time.perf_counter(), time.process_time()
    result = means((four(*q) for q in queries), len(queries))
    return time.perf_counter() - start, result, time.process_time() - cpu


def python_from_lines(samples):
    start, cpu = time.perf_counter(), time.process_time()
    rows = []
    with open(samples) as file:
        for line in file:
            sample = json.loads(line)
            grades = {d["id"]: d["grade"] for d in sample["relevant_doc_ids"]}
            rows.append(four(sample["retrieved"], set(grades), grades))
    return time.perf_counter() - start, means(rows, len(rows)), time.process_time() - cpu


def python_from_trec(qrels, run):
    start, cpu = time.perf_counter(), time.process_time()
    grades = {}
    with open(qrels) as file:
        for line in file:
            name, _, document, grade = line.split()
            grades.setdefault(name, {})[document] = int(grade)
    rankings = {}
    with open(run) as file:
        for line in file:
            name, _, document, _, score, _ = line.split()
            rankings.setdefault(name, []).append((-float(score), document))
    rows = []
    for name, ranking in rankings.items():
        ranking.sort(key=lambda pair: pair[0])
        rows.append(four([d for _, d in ranking], set(grades[name]), grades[name]))
    return time.perf_counter() - start, means(rows, len(rows)), time.process_time() - cpu


def run_command(program, arguments):
    """Wall time, means, processor time and peak memory in MiB of one `score`."""
    start = time.perf_counter()
    process = subprocess.Popen([program, "rageval", "score", *arguments, "--metrics", METRICS, "--format", "json"], stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if status != 0:
        sys.exit(f"score failed: {status}")
    mean = json.loads(out)["mean"]
    return wall, [mean[name] for name in METRICS.split(",")], usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def rust_from_memory(samples, rounds, count):
    """Seconds by the clock, means and processor seconds: from texts, with the judgements made ready as Python's are, and from strings."""
    command = ["cargo", "bench", "-q", "-p", "rageval-runner", "--bench", "score_in_memory", "--", samples, str(rounds)]
    out = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    both = json.loads(out)
    return [(one["wall"] * count / 1e9, one["means"], one["processor"] * count / 1e9) for one in (both["from_texts"], both["prepared"], both["from_strings"])]


def same(a, b):
    if any(abs(x - y) > 1e-9 for x, y in zip(a, b)):
        sys.exit(f"the figures differ: {a} {b}")


def best(rounds, function, *arguments):
    return min((function(*arguments) for _ in range(rounds)), key=lambda result: result[0])


def show(what, count, rust, rust_cpu, memory=None, python=None, python_cpu=None):
    line = f"{what:<12} rageval {rust:7.2f} s {rust / count * 1e6:7.2f} us a query  cpu {rust_cpu:7.2f} s"
    if memory is not None:
        line += f"  {memory:5.0f} MiB"
    if python is not None:
        line += f"   python {python:7.2f} s {python / count * 1e6:7.2f} us a query  cpu {python_cpu:7.2f} s"
        line += f"  ratio {python / rust:5.1f}  cpu ratio {python_cpu / rust_cpu:5.1f}"
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-python", action="store_true", help="time rageval only")
    parser.add_argument("--program", default=os.path.join(ROOT, "target", "release", "cargo-rageval"))
    options = parser.parse_args()
    count, rounds = options.queries, options.rounds
    with tempfile.TemporaryDirectory() as folder:
        samples, qrels, run = write_files(folder, count)
        size = [os.path.getsize(path) / 1e6 for path in (samples, qrels, run)]
        print(f"{count:,} queries x {DOCUMENTS} documents; MB: samples {size[0]:.0f}, qrels {size[1]:.0f}, run {size[2]:.0f}", flush=True)
        for what, arguments, python in (
            ("json lines", ["--samples", samples], lambda: python_from_lines(samples)),
            ("trec files", ["--qrels", qrels, "--run", run], lambda: python_from_trec(qrels, run)),
        ):
            wall, result, cpu, memory = best(rounds, run_command, options.program, arguments)
            if options.no_python:
                show(what, count, wall, cpu, memory)
                continue
            other, expected, other_cpu = best(rounds, python)
            same(result, expected)
            show(what, count, wall, cpu, memory, other, other_cpu)
        if not options.no_python:
            times = [python_from_memory(samples) for _ in range(rounds)]
            other, other_cpu, expected = min(t[0] for t in times), min(t[2] for t in times), times[0][1]
            for what, (wall, result, cpu) in zip(("from memory", "  prepared", "  strings"), rust_from_memory(samples, rounds, count)):
                same(result, expected)
                show(what, count, wall, cpu, python=other, python_cpu=other_cpu)


if __name__ == "__main__":
    main()
