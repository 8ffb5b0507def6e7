"""Tools plus the ground truth behind them. One file each; `_`-files are the workspaces they stand on."""
