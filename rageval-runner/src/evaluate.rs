//! The one loop that asks: the system first, then whatever the metrics need.
