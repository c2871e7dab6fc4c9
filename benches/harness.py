#!/usr/bin/env python3
"""Times the test binary from outside: --list, --exact, and what the harness adds to a run.

Builds nothing. Give it the profile whose test binary is there:

    cargo test -p rageval-runner --test harness --no-run              # dev
    cargo test --release -p rageval-runner --test harness --no-run    # release
    python3 benches/harness.py [dev|release]

The binary is the harness test's own gate over a project that this script writes: 1,000 cases in 10 YAML files, a system that sleeps
20 ms with 50 calls in flight. `ideal` is cases x sleep / in flight.
"""

import os
import pathlib
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


def project(folder):
    (folder / "cases").mkdir()
    (folder / "Cargo.toml").write_text("[workspace]\n")
    (folder / "thresholds.yaml").write_text(
        f"version: 1\nsystem: {{kind: function, max_in_flight: {IN_FLIGHT}}}\n"
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


def timed(command, environment, rounds):
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        ran = subprocess.run(command, env=environment, capture_output=True, text=True)
        times.append((time.perf_counter() - started) * 1000)
        if ran.returncode != 0:
            sys.exit(f"{command}: exit {ran.returncode}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}")
    return statistics.median(times), min(times)


def main():
    profile = sys.argv[1] if len(sys.argv) > 1 else "dev"
    program = binary(profile)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        project(folder)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("CI", "NEXTEST", "INSTA", "RAGEVAL"))}
        environment |= {"RAGEVAL_FIXTURE": "1", "CARGO_MANIFEST_DIR": name, "RAGEVAL_RUNS": str(folder / "runs")}
        nothing = timed(["true"], environment, 20)
        listing = timed([program, "--list", "--format", "terse"], environment, 20)
        exact = timed([program, "--exact", "case::part-3::case-3-7"], environment, 20)
        run = timed([program, "-q"], environment, 3)
        ideal = CASES * SLEEP_MS / IN_FLIGHT
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
        print(f"{profile}, {CASES:,} cases in {FILES} files, load {load:.1f}; median (best) in ms")
        print(f"  starting any process   {nothing[0]:8.1f} ({nothing[1]:.1f})")
        print(f"  --list                 {listing[0]:8.1f} ({listing[1]:.1f})")
        print(f"  --exact, the call apart{exact[0] - SLEEP_MS:8.1f} ({exact[1] - SLEEP_MS:.1f})")
        print(f"  whole run              {run[0]:8.1f} ({run[1]:.1f}); ideal {ideal:.0f}; run / ideal {run[0] / ideal:.2f} ({run[1] / ideal:.2f})")


if __name__ == "__main__":
    main()
