//! What a calibration's decision and its report print.
