# What a contributor runs. `just` alone lists the recipes.
_default:
    @just --list

# The gate on the demo system.
gate:
    cargo test --test rag_regression

# Asks the model behind `judge.base_url` for what the demo needs and is not stored, in the three ways that have replies; each run is red
# until its verdicts are accepted, or because it should be.
record:
    -RAGEVAL_JUDGE_MODE=cached RAGEVAL_DEMO=normal cargo test --test rag_regression
    -RAGEVAL_JUDGE_MODE=cached RAGEVAL_DEMO=hallucinating CI=true cargo test --test rag_regression
    -RAGEVAL_JUDGE_MODE=cached RAGEVAL_DEMO=never-refuses CI=true cargo test --test rag_regression

# All tests.
test:
    cargo test --workspace

# Formatting, lints, documentation.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --all-features -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features

# Review changed verdicts.
review:
    cargo insta review

# Benches; figures go to docs/performance.md.
bench:
    cargo bench --workspace
