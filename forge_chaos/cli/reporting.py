"""`forge-chaos report`."""

from __future__ import annotations

import sys
from pathlib import Path

from forge_chaos import registry, trialfile
from forge_chaos.cli.running import show
from forge_chaos.errors import Misuse
from forge_chaos.store import Store
from forge_chaos.verdict import Scorecard


def report(run: Path, form: str, output: Path | None) -> int:
    """Render a finished run. Raises Misuse for a form that does not exist and a run that is not finished."""
    render = registry.leaf("renderers", form)
    with Store.open(run) as store:
        data = store.scorecard
        if data is None or "rows" not in data:
            raise Misuse(f"{run} is not finished. Go on with: forge-chaos run --resume {run}")
        card = trialfile.from_json(Scorecard, data)
        trials = tuple(store.trials())
    if output is None and form == "terminal":
        show(card, trials, False)
        return 0
    text = render(card, trials)
    if output is None:
        sys.stdout.write(text.rstrip("\n") + "\n")
        return 0
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Misuse(f"cannot write {str(output)!r}: {error.strerror}. Name another file with -o.") from None
    return 0
