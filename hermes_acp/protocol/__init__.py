"""The ACP face: newline-delimited JSON-RPC on stdin and stdout."""
