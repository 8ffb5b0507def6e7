"""Pure functions of a trace: pass, fail or unknown, with evidence. One small file each."""
