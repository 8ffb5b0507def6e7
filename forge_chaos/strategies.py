"""Hypothesis strategies over plans, for property tests of an agent.

    from hypothesis import given
    from forge_chaos.strategies import plans, play

    @given(plans("charge_once", agent, faults="lost_reply,timeout"))
    def test_no_plan_breaks_it(plan):
        trial = play("charge_once", agent, plan)
        assert trial.judgement.acceptable, trial.judgement.why

A plan is a list of rules, each drawn coordinate by coordinate, so that a failing one shrinks to few rules,
early calls, short times and the variants that their files state first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from hypothesis import currently_in_test_context, event, target
from hypothesis import strategies as st

from forge_chaos import seated, space, sweep
from forge_chaos.events import Trace
from forge_chaos.nouns import Plan, Rule, Scenario
from forge_chaos.space import Place, Space
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
    rules. Without a trace the agent (None: ours) is tried once, when the first plan is drawn. `faults` is
    a list as for `--faults`, `seed` that of the scenario's values. Raises Misuse for what does not exist
    and for faults that have no place there.
    """
    return st.deferred(
        lambda: plans_in(_space(scenario, agent, faults, seed, faults_dirs), max_rules, seed=seed)
    )


def rules(
    scenario: Where,
    agent: Any = None,
    *,
    faults: str | None = None,
    seed: int = 1,
    faults_dirs: Sequence[str] = (),
) -> st.SearchStrategy[Rule]:
    """Single rules, as `plans` puts them together."""
    return st.deferred(lambda: rules_in(_space(scenario, agent, faults, seed, faults_dirs)))


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
        observe(trial)
    return trial


def observe(trial: Trial) -> None:
    """Tell Hypothesis how a trial ended (`event`), and what to look for more of (`target`): damage, steps,
    false claims of success. Once an example."""
    event(f"outcome: {trial.judgement.outcome}")
    target(float(len(trial.facts.damage)), label="damage")
    target(float(trial.facts.steps), label="steps")
    target(float(trial.facts.goal != "full" and trial.facts.claim == "done"), label="false claims")


def rules_in(space: Space) -> st.SearchStrategy[Rule]:
    """The rules of a space. Each coordinate shrinks by itself."""
    if not space.rules:
        return st.nothing()
    return st.builds(
        space.pick,
        st.integers(0, len(space.faults) - 1),
        st.integers(0, space.most_variants - 1),
        st.integers(0, len(space.places) - 1),
        # Most hit one call: what lasts for ever often ends the run, and hides what comes after it.
        st.integers(0, 3 * space.most_lasting - 1).map(lambda n: max(0, n - 2 * space.most_lasting)),
    )


def plans_in(
    space: Space,
    max_rules: int,
    learnt: Space | None = None,
    openers: Mapping[Place, Rule] | None = None,
    seed: int = 0,
) -> st.SearchStrategy[Plan]:
    """Plans over a space. `learnt` are rules on calls that the agent makes only when something fails;
    each comes with the rule, of `openers`, that makes it fail there."""
    single = rules_in(space).map(lambda rule: (rule,))
    chunks: list[st.SearchStrategy[tuple[Rule, ...]]] = [single]
    if learnt is not None and openers and learnt.rules and max_rules > 1:
        chunks.append(single)
        chunks.append(rules_in(learnt).map(lambda rule: (openers[_place(rule)], rule)))

    def plan(drawn: list[tuple[Rule, ...]]) -> Plan:
        found = dict.fromkeys(rule for chunk in drawn for rule in chunk)
        return Plan(tuple(sorted(list(found)[:max_rules], key=space.position)), seed)

    return st.builds(plan, st.lists(st.one_of(chunks), min_size=1, max_size=max(1, max_rules)))


_place = space.place_of


def _space(scenario: Where, agent: Any, faults: str | None, seed: int, faults_dirs: Sequence[str]) -> Space:
    from pathlib import Path

    from forge_chaos import catalog
    from forge_chaos.errors import Misuse

    known = catalog.faults([Path(d) for d in faults_dirs])
    asked = wanted(faults, None, seed, known)
    trace = scenario if isinstance(scenario, tuple) else seated.clean(scenario, agent, seed)
    found = space.space(
        (rule for fault, narrow in asked.swept for rule in sweep.cells(trace, [fault], [narrow])),
        space.order_of(fault for fault, _ in asked.swept),
    )
    if not found.rules:
        raise Misuse(
            f"none of {', '.join(asked.classes)} has a place in this scenario's clean trial. "
            f"Name other faults (forge-chaos list faults)."
        )
    return found
