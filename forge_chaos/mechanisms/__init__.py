"""How one tool call goes wrong: before, after or instead of the call. One small file each."""
