"""A mini-swe-agent whose commands may take one second."""

import os

os.environ.setdefault("MSWEA_SILENT_STARTUP", "1")
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from minisweagent.agents.default import DefaultAgent  # it talks while it is imported
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel

agent = DefaultAgent(
    LitellmModel(model_name="openai/gpt-4o", cost_tracking="ignore_errors"),
    LocalEnvironment(timeout=1),
    system_template="You work in a shell.",
    instance_template="{{task}}",
    step_limit=12,
)
