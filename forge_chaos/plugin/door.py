"""The `chaos` fixture: trials in a test, of which the bad ones fail it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import environ
from typing import Any, TypeVar

from forge_chaos import campaign
from forge_chaos.bench import OWN, SCRIPTED
from forge_chaos.errors import ChaosError, Misuse
from forge_chaos.nouns import Scenario
from forge_chaos.plugin import ends, saying, trying
from forge_chaos.plugin.ends import Undecided
from forge_chaos.plugin.seating import Seats
from forge_chaos.plugin.stated import Stated
from forge_chaos.plugin.subject import Scenarios, subject
from forge_chaos.verdict import Scorecard, Trial

T = TypeVar("T")
PAID = 200  # trials with a paid model that nobody has to ask for


@dataclass(slots=True)
class Chaos:
    """Tries agents under faults. What the marker of the test says holds where a call does not say it.

    An agent is a SPEC (`module:attribute`, `path.py:attribute`, `framework:NAME`), run in a child process
    that can be killed, or an object - a function of (task, tools, model), a framework's agent - run in a
    thread of this process. Each method raises Unacceptable (an AssertionError) for a bad end, Undecided
    where there is no verdict, and skips the test where nothing could be decided.

    `properties` and `trials` are what reports are told of the test.
    """

    seats: Seats = field(repr=False)
    stated: Callable[[], Stated] = field(repr=False)
    test: str
    marked: Mapping[str, Any] = field(default_factory=dict)
    properties: list[tuple[str, object]] = field(default_factory=list, repr=False)
    trials: list[Trial] = field(default_factory=list, repr=False)
    used: bool = field(default=False, repr=False)

    def check(
        self,
        agent: Any = None,
        plan: str | Sequence[str] | None = None,
        *,
        scenario: str | Scenario | None = None,
        seed: int | None = None,
        adapter: str | None = None,
        model: str | None = None,
    ) -> Trial:
        """The trial of one plan on one scenario, which ended acceptably with every rule fired.

        `plan` are rules (`timeout.hangs@1:read_file`), joined by commas or a list. Without a scenario: the
        first, by name, whose solution makes the calls that the plan speaks of.
        """
        __tracebackhide__ = True
        self.used = True

        def work() -> tuple[trying.Tried, str]:
            stated = self.stated()
            rules = _listed(self._said("plan", plan))
            if rules is None:
                raise Misuse(
                    "check() needs a plan, such as 'timeout.hangs@1:read_file', in the call or in the marker."
                )
            where = scenario if scenario is not None else self.marked.get("scenarios")
            who = subject(
                stated,
                self._said("agent", agent),
                where,
                adapter=self._said("adapter", adapter),
                model=self._said("model", model),
            )
            name = who.objects[0].name if len(who.objects) == 1 else who.globs
            at = self._number("seed", seed, stated.seed)
            with self.seats.seat(who.setup, who.thing, who.objects) as seated:
                tried = trying.one(seated, rules, name, at)
            found = tried.trial
            again = who.again(stated, self.test, plan=rules, scenarios=found.scenario, seed=at)
            classes = saying.classes(tried.stale)
            search = who.again(stated, self.test, faults=classes, scenarios=found.scenario, seed=at)
            if who.thing is not None or who.objects:
                search = f"chaos.sweep(..., faults={classes!r}, scenarios={found.scenario!r})"
            return replace(tried, trial=replace(found, replay=again)), search

        tried, search = decided(self.seats, work)
        self.note(tried.trial)
        ends.one(tried, search)
        return tried.trial

    def sweep(
        self,
        agent: Any = None,
        *,
        faults: str | Iterable[str] | None = None,
        scenarios: Scenarios | None = None,
        seed: int | None = None,
        max_trials: int | None = None,
        trials: int = 1,
        fail_under: float | None = None,
        adapter: str | None = None,
        model: str | None = None,
    ) -> Scorecard:
        """The scorecard of every place at which these faults can happen in these scenarios; nothing said:
        the five named classes, all scenarios.

        Fails for any trial that does not end acceptably; with `fail_under`, which is for agents that are
        not deterministic, by that gate instead.
        """
        __tracebackhide__ = True
        self.used = True

        def work() -> tuple[trying.Swept, str, campaign.Options]:
            stated = self.stated()
            who = subject(
                stated,
                self._said("agent", agent),
                self._said("scenarios", scenarios),
                adapter=self._said("adapter", adapter),
                model=self._said("model", model),
            )
            options = campaign.Options(
                faults=_listed(self._said("faults", faults)) or stated.faults,
                scenarios=who.globs or "*",
                trials=trials,
                seed=self._number("seed", seed, stated.seed),
                max_trials=self._number("max_trials", max_trials, stated.max_trials),
                fail_under=fail_under,
            )

            def again(trial: Trial) -> str:
                if who.thing is not None or who.objects:
                    return ""  # the command of the whole sweep stands for all
                plan = ",".join(trial.rules) or None
                return who.again(stated, self.test, plan=plan, scenarios=trial.scenario, seed=trial.seed)

            command = who.again(
                stated,
                self.test,
                faults=options.faults,
                scenarios=who.globs,
                seed=options.seed,
                max_trials=options.max_trials,
            )
            with self.seats.seat(who.setup, who.thing, who.objects) as seated:
                return trying.sweep(seated, options, again, _consent(who.setup.model)), command, options

        swept, command, options = decided(self.seats, work)
        self._note_sweep(swept, command, options)
        ends.sweep(swept, command, fail_under is None, options.max_trials is not None)
        return swept.card

    def as_marked(self) -> None:
        """What the marker asks for: its plan, else a sweep."""
        __tracebackhide__ = True
        if self.marked.get("plan") is not None:
            self.check()
        else:
            self.sweep()

    def note(self, trial: Trial) -> None:
        """Tell the reports of a trial."""
        self.trials.append(trial)
        self.properties += saying.properties(trial).items()

    def _note_sweep(self, swept: trying.Swept, command: str, options: campaign.Options) -> None:
        self.trials += [trial for trial in swept.trials if trial.kind == "fault"]
        self.properties += saying.swept(swept, command, options.faults).items()
        for trial in swept.failing[: saying.SHOWN]:
            self.properties += saying.properties(trial).items()

    def _said(self, name: str, given: Any) -> Any:
        return given if given is not None else self.marked.get(name)

    def _number(self, name: str, given: int | None, otherwise: Any) -> Any:
        said = self._said(name, given)
        if said is not None and (not isinstance(said, int) or isinstance(said, bool) or said < 0):
            raise Misuse(f"{name}={said!r} is no whole number from 0 on.")
        return said if said is not None else otherwise


def decided(seats: Seats, work: Callable[[], T]) -> T:
    """What `work` gives back; Undecided, in one sentence, for whatever keeps it from a verdict."""
    __tracebackhide__ = True
    try:
        return seats.aside(work)
    except ChaosError as error:
        raise Undecided(str(error)) from None


def _listed(given: Any) -> str | None:
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, Iterable):
        several = list(given)
        if several and all(isinstance(each, str) for each in several):
            return ",".join(several)
    raise Misuse(
        f"{given!r} is no text and no list of texts. Write 'missing_file,timeout' or ['missing_file', 'timeout']."
    )


def _consent(model: str) -> campaign.Consent:
    """A paid model is asked no more than PAID times over unless `max_trials` says so."""
    if model in (SCRIPTED, OWN):
        return campaign.free
    from forge_chaos.modelserver.endpoint import paid

    def consent(trials: int) -> None:
        if trials > PAID and paid(model, environ):
            raise Misuse(
                f"{trials} trials with {model}, which may cost money, are over {PAID}: say max_trials=N, or fewer scenarios."
            )

    return consent
