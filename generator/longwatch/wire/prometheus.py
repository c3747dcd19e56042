"""Plan → the rule file that Prometheus reads. Here, and only here, a condition becomes PromQL text."""

from __future__ import annotations

from longwatch.ir import names
from longwatch.ir.model import Alert, Comparison, Guard, Join, Plan, Record
from longwatch.units import number, promql_duration


def rule_file(plan: Plan) -> dict[str, object]:
    """One group for each family or cluster: dependent rules must stand in one group, in order."""
    rules: list[dict[str, object]] = [_record(plan, record) for record in plan.records]
    rules += [_alert(plan, alert) for alert in plan.alerts]
    return {
        "groups": [{"name": names.group(plan.name), "interval": promql_duration(plan.interval), "rules": rules}],
    }


def _record(plan: Plan, record: Record) -> dict[str, object]:
    scope = {names.FAMILY: plan.name} if plan.kind == "family" else {}
    labels = {**scope, **record.labels}
    made: dict[str, object] = {"record": record.name, "expr": record.expr}
    return {**made, "labels": labels} if labels else made


def _alert(plan: Plan, alert: Alert) -> dict[str, object]:
    made: dict[str, object] = {"alert": alert.name, "expr": expression(alert)}
    if alert.for_:
        made["for"] = promql_duration(alert.for_)
    if alert.keep_firing_for:
        made["keep_firing_for"] = promql_duration(alert.keep_firing_for)
    made["labels"] = labels(plan, alert)
    made["annotations"] = texts(alert)
    return made


def labels(plan: Plan, alert: Alert) -> dict[str, str]:
    """The static labels of an alert, in the order in which people read them."""
    scope = {names.FAMILY: plan.name} if plan.kind == "family" else {"machines": plan.name}
    return {"severity": alert.severity, "owner": alert.owner, "stage": alert.stage, **scope, **alert.labels}


def texts(alert: Alert) -> dict[str, str]:
    return {
        "summary": alert.summary,
        "description": alert.description,
        "remediation": alert.remediation,
        **dict(alert.links),
    }


def expression(alert: Alert) -> str:
    """The whole alert expression."""
    text = " or ".join(comparison(c) if len(alert.conditions) == 1 else f"({comparison(c)})" for c in alert.conditions)
    for guard in alert.guards:
        text = guarded(text, guard)
    for join in alert.joins:
        text = joined(text, join)
    if alert.rearm_at:
        text = f"({text}) and on () (vector(time()) >= {alert.rearm_at})"
    return text


def comparison(c: Comparison) -> str:
    right = c.right if isinstance(c.right, str) else number(c.right)
    match = f"on ({', '.join(c.on)}) group_left () " if c.on else ""
    return f"({c.left}) {c.operator} {match}{right}"


def guarded(text: str, guard: Guard) -> str:
    word = "unless" if guard.unless else "and"
    return f"({text})\n{word} on ({', '.join(guard.on)}) ({guard.expr})"


def joined(text: str, join: Join) -> str:
    on, take = ", ".join(join.on), ", ".join(join.take)
    with_labels = f"({text})\n* on ({on}) group_left ({take}) {join.expr}"
    return f"({with_labels})\nor (({text}) unless on ({on}) {join.expr})" if join.optional else with_labels
