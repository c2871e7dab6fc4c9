//! Quantities with a largest allowed value: length, latency, tokens, cost.
