#!/usr/bin/env python3
"""Times the test binary from outside: --list, --exact, and what the harness adds to a run.

Builds nothing. Give it the profile whose test binary is there:

    cargo test -p rageval-runner --test harness --no-run              # dev
    cargo test --release -p rageval-runner --test harness --no-run    # release
    python3 benches/harness.py [dev|release]

or another gate whose system is no function, such as a bench that is there already; its system is then recorded answers, which take no
time, and RAGEVAL_GATE is set for it:

    python3 benches/harness.py release target/release/deps/stored_replies-...

The binary is the harness test's own gate over a project that this script writes: 1,000 cases in 10 YAML files, a system that sleeps
20 ms with 50 calls in flight. `ideal` is cases x sleep / in flight. On a machine that does other things the processor time counts, and
the best wall time of 20.
"""

import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

CASES, FILES, SLEEP_MS, IN_FLIGHT = 1000, 10, 20, 50
ROOT = pathlib.Path(__file__).resolve().parent.parent


def binary(profile):
    folder = ROOT / "target" / ("release" if profile == "release" else "debug") / "deps"
    found = [p for p in folder.glob("harness-*") if os.access(p, os.X_OK) and p.suffix in ("", ".exe")]
    if not found:
        sys.exit(f"no harness test binary in {folder}; see the top of this script")
    return max(found, key=lambda p: p.stat().st_mtime)


def project(folder, system):
    (folder / "cases").mkdir()
    (folder / "Cargo.toml").write_text("[workspace]\n")
    (folder / "thresholds.yaml").write_text(
        f"version: 1\nsystem: {{{system}}}\n"
        "metrics:\n  recall@5: {min: 0.5, mean: {min: 0.5}, bottom10: {min: 0.5}}\n"
    )
    each = CASES // FILES
    for f in range(FILES):
        text = "".join(
            f"- id: case-{f}-{i}\n  query: \"What is the fee of the {i}th kind? [wait: {SLEEP_MS}] [found: fee]\"\n"
            "  ground_truth_answer: The fee is 12 euros for each parcel.\n  relevant_doc_ids: [fee]\n"
            "  type: fact\n  difficulty: easy\n  language: en\n"
            for i in range(each)
        )
        (folder / "cases" / f"part-{f}.yaml").write_text(text)
    answer = {"response": "The fee is 12 euros.", "retrieved_contexts": [{"id": "fee", "text": "The fee is 12 euros for each parcel."}]}
    answers = (json.dumps({"id": f"case-{f}-{i}"} | answer) for f in range(FILES) for i in range(each))
    (folder / "answers.jsonl").write_text("".join(f"{line}\n" for line in answers))


def timed(command, environment, rounds):
    times, processor = [], []
    for _ in range(rounds):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        ran = subprocess.run(command, env=environment, capture_output=True, text=True)
        times.append((time.perf_counter() - started) * 1000)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000)
        if ran.returncode != 0:
            sys.exit(f"{command}: exit {ran.returncode}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}")
    return statistics.median(times), min(times), statistics.median(processor)


def main():
    profile = sys.argv[1] if len(sys.argv) > 1 else "dev"
    program = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else binary(profile)
    system, call_ms = (
        ("kind: recorded, samples: answers.jsonl", 0) if len(sys.argv) > 2 else (f"kind: function, max_in_flight: {IN_FLIGHT}", SLEEP_MS)
    )
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        project(folder, system)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("CI", "NEXTEST", "INSTA", "RAGEVAL"))}
        environment |= {"RAGEVAL_FIXTURE": "1", "RAGEVAL_GATE": "1", "CARGO_MANIFEST_DIR": name, "RAGEVAL_RUNS": str(folder / "runs")}
        nothing = timed(["true"], environment, 20)
        listing = timed([program, "--list", "--format", "terse"], environment, 20)
        exact = timed([program, "--exact", "case::part-3::case-3-7"], environment, 20)
        run = timed([program, "-q"], environment, 3)
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
        print(f"{profile}, {CASES:,} cases in {FILES} files, load {load:.1f}; median (best) wall time in ms; median processor time in ms")
        print(f"  starting any process   {nothing[0]:8.1f} ({nothing[1]:.1f}); {nothing[2]:.1f}")
        print(f"  --list                 {listing[0]:8.1f} ({listing[1]:.1f}); {listing[2]:.1f}")
        print(f"  --exact, the call apart{exact[0] - call_ms:8.1f} ({exact[1] - call_ms:.1f}); {exact[2]:.1f}")
        print(f"  whole run              {run[0]:8.1f} ({run[1]:.1f}); {run[2]:.1f}")
        if call_ms:
            ideal = CASES * call_ms / IN_FLIGHT
            print(f"  ideal                  {ideal:8.1f}; run / ideal {run[0] / ideal:.2f} ({run[1] / ideal:.2f})")


if __name__ == "__main__":
    main()
