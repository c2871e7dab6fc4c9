//! System kind `function`.
