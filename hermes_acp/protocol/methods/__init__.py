"""ACP methods that an editor may call: one file each."""
