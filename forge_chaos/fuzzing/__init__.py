"""Searching whole plans for the smallest that breaks an agent. What is found was chosen because it fails, so
none of it ever enters a scorecard."""
