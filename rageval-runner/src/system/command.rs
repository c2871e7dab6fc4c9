//! System kind `command`.
