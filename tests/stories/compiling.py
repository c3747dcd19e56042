"""Policies compiled in memory, and the generated tests taken apart: a few scenarios as the files that promtool reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from longwatch.compiler import Compiled, compile_policies
from longwatch.ir import names
from longwatch.ir.model import Plan, Scenario
from longwatch.render.yaml import dump
from longwatch.wire.prometheus import rule_file
from longwatch.wire.promtool import test_file

POLICIES = Path(__file__).parents[2] / "policies"


def policy_files(folder: Path) -> list[tuple[str, bytes]]:
    return [(str(path.relative_to(folder)), path.read_bytes()) for path in sorted(folder.rglob("*.yaml"))]


def compiled(files: Sequence[tuple[str, bytes]]) -> Compiled:
    made = compile_policies(files)
    assert made.ok, "\n".join(f"{d.code}: {d.message}" for d in made.diagnostics)
    return made


def rules_of(made: Compiled, subject: str) -> str:
    """The rule file of a family or cluster."""
    [text] = [a.text for a in made.artifacts if a.subject == subject and a.path.endswith(".rules.yml")]
    return text


def plan_of(made: Compiled, subject: str) -> Plan:
    assert made.fleet is not None
    [plan] = [plan for plan in made.fleet.plans if plan.name == subject]
    return plan


def proofs(plan: Plan, chosen: Callable[[Scenario], bool], rules: str = "") -> dict[str, str]:
    """Rules (the plan's own by default) and the generated tests of the chosen scenarios, by file name."""
    scenarios = [scenario for scenario in plan.scenarios if chosen(scenario)]
    assert scenarios, "no scenario is chosen, so nothing would be tested"
    made = {"rules.yml": rules or dump(rule_file(plan))}
    for interval in sorted({scenario.interval for scenario in scenarios}):
        same = [scenario for scenario in scenarios if scenario.interval == interval]
        made[f"{interval:g}s.test.yml"] = dump(test_file("rules.yml", names.group(plan.name), same))
    return made
