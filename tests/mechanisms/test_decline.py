from __future__ import annotations

import json

from forge_chaos.mechanisms.decline import decline
from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.nouns import Err

from .replies import met, says


def test_the_agent_gets_the_provider_s_own_error_and_the_model_is_not_asked() -> None:
    text = "Rate limit reached. Please try again in 20 seconds."
    result, trial, ran = met(
        decline, says("DONE"), text, status=429, type="rate_limit_error", code="rate_limit_exceeded"
    )
    assert ran == 0
    assert trial.fired == [{"changed": [], "status": 429}]
    assert isinstance(result, Err)
    refusal = result.exception
    assert isinstance(refusal, ProviderError)
    assert (refusal.status, refusal.retry_after, refusal.transient) == (429, 20.0, True)
    assert json.loads(refusal.body) == {
        "error": {"message": text, "type": "rate_limit_error", "param": None, "code": "rate_limit_exceeded"}
    }
