//! System kind `http`.
