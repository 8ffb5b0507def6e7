"""`forge-chaos report`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from inspect import signature
from pathlib import Path

from forge_chaos import registry, trialfile
from forge_chaos.campaign import replay_command
from forge_chaos.cli.running import show
from forge_chaos.errors import Misuse, unknown
from forge_chaos.store import Store
from forge_chaos.verdict import Scorecard


def report(run: Path, form: str, output: Path | None) -> int:
    """Render a finished run. Raises Misuse for a form that does not exist and a run that is not finished."""
    if form not in registry.names("renderers"):
        raise unknown("report", form, registry.names("renderers"), way="forge-chaos list renderers")
    render = registry.leaf("renderers", form)
    with Store.open(run) as store:
        data = store.scorecard
        if data is None or "rows" not in data:
            way = shlex.join(["forge-chaos", "run", "--resume", str(run)])
            raise Misuse(f"{run} is not finished. Go on with: {way}")
        # Where the run lies now, for it may have been copied here since.
        card = replace(trialfile.from_json(Scorecard, data), run=str(run))
        trials = tuple(replace(trial, replay=replay_command(run, trial.id)) for trial in store.trials())
        if output is None and form == "terminal":
            show(card, trials, as_json=False)
            return 0
        more = {"traces": store.trace} if "traces" in signature(render).parameters else {}
        text = render(card, trials, **more).rstrip("\n") + "\n"
    if output is None:
        sys.stdout.write(text)
        return 0
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Misuse(f"cannot write {str(output)!r}: {error.strerror}. Name another file with -o.") from None
    return 0
