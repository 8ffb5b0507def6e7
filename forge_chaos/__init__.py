"""forge-chaos: a fault-injection robustness tester for LLM agents."""

__version__ = "0.1.0"
