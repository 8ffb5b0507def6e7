"""An agent with a shell, as https://mini-swe-agent.com/latest/advanced/cookbook/ shows it."""

from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel

agent = DefaultAgent(
    LitellmModel(model_name="openai/gpt-4o"),
    LocalEnvironment(),
    system_template="You are a helpful assistant that can interact with a computer.",
    instance_template="Please solve this issue: {{task}}",
)
