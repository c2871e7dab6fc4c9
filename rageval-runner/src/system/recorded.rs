//! System kind `recorded`.
