"""Hypothesis strategies over plans, for property tests of an agent.

    from hypothesis import given, settings
    from forge_chaos.strategies import plans, play

    @given(plans("charge_once", agent, faults="lost_reply,timeout"))
    @settings(deadline=None)
    def test_no_plan_breaks_it(plan):
        trial = play("charge_once", agent, plan)
        assert trial.judgement.acceptable, trial.judgement.why

A plan is a list of rules, each drawn coordinate by coordinate, so that a failing one shrinks to few rules,
early calls, short times and the variants that their files state first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from hypothesis import currently_in_test_context, event, note, target
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from forge_chaos import catalog, seated, sweep
from forge_chaos import space as spaces
from forge_chaos.errors import Misuse
from forge_chaos.events import Trace
from forge_chaos.nouns import Plan, Rule, Scenario
from forge_chaos.space import Place, Space, place_of
from forge_chaos.verdict import Trial
from forge_chaos.wanted import wanted

Where: TypeAlias = str | Scenario | Trace
MAX_RULES = 4
CALLS = 4


def plans(
    scenario: Where,
    agent: Any = None,
    *,
    faults: str | None = None,
    max_rules: int = MAX_RULES,
    seed: int = 1,
    faults_dirs: Sequence[str] = (),
) -> st.SearchStrategy[Plan]:
    """Plans of 1 to `max_rules` rules, most of which can fire.

    `scenario` is a name, a `Scenario`, or the trace of a clean trial, whose calls are the places of the
    rules. Without a trace the agent (None: ours) is tried once, now. `faults` is
    a list as for `--faults`, `seed` that of the scenario's values. Raises Misuse for what does not exist
    and for faults that have no place there.
    """
    return plans_in(_space(scenario, agent, faults, seed, faults_dirs), max_rules, seed=seed)


def rules(
    scenario: Where,
    agent: Any = None,
    *,
    faults: str | None = None,
    seed: int = 1,
    faults_dirs: Sequence[str] = (),
) -> st.SearchStrategy[Rule]:
    """Single rules, as `plans` puts them together."""
    return rules_in(_space(scenario, agent, faults, seed, faults_dirs))


def schedules(calls: int = CALLS) -> st.SearchStrategy[tuple[int, int | None]]:
    """`first` and `last` of a rule: which of the first `calls` calls it hits, last=None for all that follow.
    For rules of your own: `st.builds(lambda when: Rule("timeout", first=when[0], last=when[1]), schedules())`.
    """
    lasting = st.sampled_from([*range(1, calls + 1), None])
    return st.builds(
        lambda first, n: (first, None if n is None else first + n - 1), st.integers(1, calls), lasting
    )


def play(scenario: str | Scenario, agent: Any, plan: Plan, *, adapter: str | None = None) -> Trial:
    """The judged trial of the agent under a plan, in this process; a test that is async may call it too.

    Inside a Hypothesis test it is observed. In this process nobody can end an agent that blocks for ever.
    """
    trial = seated.play(scenario, agent, plan, adapter)
    if currently_in_test_context():
        note(
            f"{trial.scenario} under {', '.join(trial.rules) or 'the empty plan'}: {trial.judgement.outcome}"
        )
        observe(trial)
    return trial


def observe(trial: Trial) -> None:
    """Tell Hypothesis how a trial ended (`event`), and what to look for more of (`target`): damage, steps,
    false claims of success."""
    event(f"outcome: {trial.judgement.outcome}")
    with suppress(InvalidArgument):  # of several trials in one example, the first is the target
        target(float(len(trial.facts.damage)), label="damage")
        target(float(trial.facts.steps), label="steps")
        target(float(trial.facts.goal != "full" and trial.facts.claim == "done"), label="false claims")


def rules_in(space: Space) -> st.SearchStrategy[Rule]:
    """The rules of a space. Each coordinate shrinks by itself."""
    return _rule(space) if space.rules else st.nothing()


@st.composite
def _rule(draw: st.DrawFn, space: Space) -> Rule:
    fault = draw(st.integers(0, len(space.faults) - 1))
    variant = draw(st.integers(0, space.most_variants - 1))
    place = draw(st.integers(0, len(space.places) - 1))
    # Most hit one call: what lasts for ever often ends the run, and hides what comes after it.
    lasting = draw(st.integers(0, 3 * space.most_lasting - 1)) - 2 * space.most_lasting
    return space.pick(fault, variant, place, max(0, lasting))


@st.composite
def _opened(draw: st.DrawFn, learnt: Space, openers: Mapping[Place, Rule]) -> tuple[Rule, ...]:
    rule = draw(_rule(learnt))
    return openers[place_of(rule)], rule


@st.composite
def _plan(
    draw: st.DrawFn,
    space: Space,
    max_rules: int,
    learnt: Space | None,
    openers: Mapping[Place, Rule],
    seed: int,
    min_rules: int,
) -> Plan:
    single = rules_in(space).map(lambda rule: (rule,))
    chunks: list[st.SearchStrategy[tuple[Rule, ...]]] = [single]
    if learnt is not None and openers and learnt.rules and max_rules > 1:
        chunks += [single, single, _opened(learnt, openers)]
    drawn = draw(st.lists(st.one_of(chunks), min_size=min_rules, max_size=max(min_rules, max_rules)))
    found = dict.fromkeys(rule for chunk in drawn for rule in chunk)
    return Plan(tuple(sorted(list(found)[:max_rules], key=space.position)), seed)


def plans_in(
    space: Space,
    max_rules: int,
    learnt: Space | None = None,
    openers: Mapping[Place, Rule] | None = None,
    seed: int = 0,
    min_rules: int = 1,
) -> st.SearchStrategy[Plan]:
    """Plans over a space. `learnt` are rules on calls that the agent makes only when something fails;
    each comes with the rule, of `openers`, that makes it fail there."""
    return _plan(space, max_rules, learnt, openers or {}, seed, min_rules)


def _space(scenario: Where, agent: Any, faults: str | None, seed: int, faults_dirs: Sequence[str]) -> Space:
    known = catalog.faults([Path(d) for d in faults_dirs])
    asked = wanted(faults, None, seed, known)
    trace = scenario if isinstance(scenario, tuple) else seated.clean(scenario, agent, seed)
    cells = [rule for fault, narrow in asked.swept for rule in sweep.cells(trace, [fault], [narrow])]
    cells += [
        replace(rule, variant=known[rule.fault].variant(rule.variant).id)
        for plan in asked.plans
        for rule in plan
    ]
    found = spaces.space(cells, spaces.order_of(known[name] for name in asked.classes))
    if not found.rules:
        raise Misuse(
            f"none of {', '.join(asked.classes)} has a place in this scenario's clean trial. "
            f"Name other faults (forge-chaos list faults)."
        )
    return found
