#!/usr/bin/env python3
"""Measures a user's first build of a gate: processor time, wall time, crates, and which of them cost most.

    cargo build -p cargo-rageval          # the command whose `init` writes the Cargo.toml
    cargo fetch --locked                  # the build itself is offline
    python3 benches/first_build.py [--top 10] [--json FILE] [--keep FOLDER] [--profile TEXT] [-- arguments for cargo]

The crate is what `cargo rageval init --system function` makes in an empty folder, with the runner of this workspace and its
Cargo.lock; it is built into an empty target folder by `cargo test --no-run --test rag_regression`. `--profile` puts other text in
the place of the profile that `init` wrote, to compare. Needs a POSIX shell, which takes the time of each crate.

Processor time counts on a machine that does other things too; wall time is that of a quiet one only. Two builds on the two threads
of one core take more processor time than on cores of their own: compare with a measurement from the same hour.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Stands before each rustc and notes what it took; a shell, since starting anything larger 200 times would be measured too.
WRAPPER = """#!/bin/sh
"$@"
code=$?
unit=- of=lib
for word in "$@"; do
    case "$before" in --crate-name) unit=$word ;; --crate-type) of=$word ;; esac
    before=$word
done
{ echo "$unit $of"; times; } >> "$RAGEVAL_UNITS/$$"   # each in its own file: two that end together must not mix
exit $code
"""


def build(folder, profile, arguments):
    gate, units = folder / "gate", folder / "units"
    gate.mkdir()
    units.mkdir()
    program = ROOT / "target" / "debug" / "cargo-rageval"
    if not program.exists():
        sys.exit(f"{program} is missing; see the top of this script")
    runner = str(ROOT / "rageval-runner")
    subprocess.run(
        [program, "rageval", "init", "--no-run", "--no-workflow", "--system", "function", "--runner-path", runner],
        cwd=gate, check=True, stdout=subprocess.DEVNULL,
    )
    (gate / "Cargo.lock").write_bytes((ROOT / "Cargo.lock").read_bytes())
    if profile is not None:
        manifest = (gate / "Cargo.toml").read_text()
        at = manifest.find("[profile.dev")
        (gate / "Cargo.toml").write_text((manifest if at < 0 else manifest[:at]) + "\n" + profile + "\n")
    wrapper = folder / "unit"
    wrapper.write_text(WRAPPER)
    wrapper.chmod(0o755)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("CARGO_PROFILE", "CARGO_BUILD", "CARGO_INC", "RUST"))}
    # Cargo builds crates of a registry without its incremental cache, which costs time in a first build; here the runner is a path.
    environment |= {"CARGO_INCREMENTAL": "0"}
    environment |= {"CARGO_TARGET_DIR": str(folder / "target"), "RUSTC_WRAPPER": str(wrapper), "RAGEVAL_UNITS": str(units)}
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ran = subprocess.run(
        ["cargo", "test", "--no-run", "--offline", "--test", "rag_regression", *arguments],
        cwd=gate, env=environment, capture_output=True, text=True,
    )
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode != 0:
        sys.exit(f"the build failed:\n{ran.stderr[-4000:]}")
    crates = len(re.findall(r"^ *Compiling ", ran.stderr, flags=re.M))
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    size = sum(p.stat().st_size for p in (folder / "target").rglob("*") if p.is_file())
    return {"cpu_s": cpu, "wall_s": wall, "crates": crates, "target_mib": size / 2**20, "units": read(units)}


def read(units):
    """Processor seconds of each unit; those of one name and kind together."""
    taken = collections.Counter()
    for file in units.iterdir():
        lines = file.read_text().splitlines()
        # Three lines a unit: its name and kind, what the shell took, what rustc took.
        for named, times in zip(lines[0::3], lines[2::3]):
            unit, kind = named.split()
            seconds = sum(int(m) * 60 + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", times))
            if unit not in ("-", "___"):  # cargo asks rustc what it is
                taken[unit if kind in ("lib", "rlib") else f"{unit} ({kind})"] += seconds
    return dict(taken.most_common())


def main():
    arguments = sys.argv[1:]
    after = arguments[arguments.index("--") + 1 :] if "--" in arguments else []
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="an empty folder for the crate and its target folder")
    parser.add_argument("--profile")
    options = parser.parse_args(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = options.keep or pathlib.Path(name)
        folder.mkdir(exist_ok=True)
        built = build(folder, options.profile, after)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(
        f"first build of a gate: {built['cpu_s']:.0f} s of processor time, {built['wall_s']:.0f} s of wall time, {built['crates']} crates, "
        f"target folder {built['target_mib']:.0f} MiB; {os.cpu_count()} cores, load {load:.1f}"
    )
    rest = built["cpu_s"] - sum(built["units"].values())
    for unit, seconds in list(built["units"].items())[: options.top]:
        print(f"  {seconds:6.1f} s  {unit}")
    print(f"  {rest:6.1f} s  cargo itself and what build scripts ran, such as the C compiler")
    if options.json:
        options.json.write_text(json.dumps(built, indent=1))


if __name__ == "__main__":
    main()
