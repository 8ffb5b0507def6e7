"""A workspace and no tools: for an agent that brings its own."""

from __future__ import annotations

from forge_chaos.worlds._ground import Kind

bare = Kind("bare", {})
