"""Proofs of the detectors and scenarios of the policy → promtool scenarios, with every signal of a healthy run around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longwatch.catalogue.cascades import COMPANIONS
from longwatch.ir import names
from longwatch.ir.model import Alert, Firing, Scenario, Series, Silence
from longwatch.lower.simulation import RunSimulation, device_series
from longwatch.notation import Sample, compress, expand
from longwatch.plugins.front import Act, History, Proof, detectors
from longwatch.plugins.reading import HEARTBEATS, PROGRESS_ROLES, ClusterReader, FamilyReader
from longwatch.policy.document import PolicyScenario
from longwatch.policy.model import AlertSetting, Subject

_MOST_SAMPLES = 8000
"""promtool's engine loads at most 10,000 samples for one query; a longer proof could not be played."""

_LONGEST_GRID = 240.0
"""Seconds; for tests of half a day."""


def grid(reader: FamilyReader | ClusterReader) -> float:
    """Seconds between samples of a test."""
    return reader.cluster.rules if isinstance(reader, ClusterReader) else reader.grid


def lower_scenarios(
    subject: Subject, reader: FamilyReader | ClusterReader, alerts: Sequence[Alert]
) -> tuple[Scenario, ...]:
    compiled = {alert.name: alert for alert in alerts}
    scenarios: dict[str, Scenario] = {}
    roles = simulated_roles(reader, alerts) if isinstance(reader, FamilyReader) else ()
    for setting in subject.settings:
        if setting.name not in compiled:
            continue
        for proof in detectors()[setting.detector].prove(reader, setting):
            if _length(proof) <= _MOST_SAMPLES * grid(reader):
                made = _scenario(reader, setting, proof, compiled[setting.name], roles)
                scenarios[made.key] = made
    if isinstance(reader, FamilyReader):
        for index, written in enumerate(reader.family.scenarios):
            made = _written(reader, index, written, compiled, roles)
            scenarios[made.key] = made
    return tuple(scenarios.values())


def _length(proof: Proof) -> float:
    """Seconds."""
    runs = (sum(act.seconds for act in history.acts) for history in proof.runs)
    devices = (sum(seconds for seconds, _ in device.values) for device in proof.devices)
    return max((*runs, *devices))


def simulated_roles(reader: FamilyReader, alerts: Sequence[Alert]) -> tuple[str, ...]:
    """Every role that the family's rules read."""
    lifecycle = (
        "phase",
        "run_info",
        "job_running",
        "job_finished",
        reader.first(HEARTBEATS),
        reader.first(PROGRESS_ROLES),
        "step",
    )
    read = [role for alert in alerts for role in alert.signals]
    return tuple(role for role in dict.fromkeys((*lifecycle, *read)) if reader.has(role))


def run_name(reader: FamilyReader, index: int) -> str:
    examples = reader.family.document.runs.examples
    return examples[index] if index < len(examples) else f"{reader.family.name}-{'abcdefgh'[index % 8]}"


def _scenario(
    reader: FamilyReader | ClusterReader,
    setting: AlertSetting,
    proof: Proof,
    alert: Alert,
    roles: Sequence[str],
) -> Scenario:
    every = grid(reader)
    if proof.devices and sum(seconds for seconds, _ in proof.devices[0].values) > 4 * 3600:
        every = _LONGEST_GRID
    key = f"{names.kebab(alert.name)}.{proof.key}"
    scope = own_scope(reader, key)
    if any(label in scope for history in proof.runs for label in history.labels):
        scope = {}
    series: list[Series] = []
    if isinstance(reader, FamilyReader):
        for index, history in enumerate(proof.runs):
            name = history.labels.get(reader.run_label, run_name(reader, index))
            series += RunSimulation(reader, history, name, every, roles, scope).series()
        end = max(sum(act.seconds for act in history.acts) for history in proof.runs)
        subject = {**scope, reader.run_label: proof.runs[0].labels.get(reader.run_label, run_name(reader, 0))}
    else:
        for device in proof.devices:
            series += device_series(reader, device, every) if reader.has(device.role) else ()
        end = max(sum(seconds for seconds, _ in device.values) for device in proof.devices)
        subject = {"cluster": reader.cluster.document.select.get("cluster", reader.cluster.name)}
    placed = isinstance(reader, FamilyReader) or reader.has("placement")
    firing = tuple(
        Firing(alert=alert.name, at=_tick(min(at, end - every), every), labels=(_present({**subject, **more}, placed),))
        for at, more in proof.fires
    )
    quiet = _tick(proof.quiet_until, every)
    allowed = {alert.name, *proof.companions, *COMPANIONS.get(alert.name, ())}
    silences = [
        Silence(
            until=_tick(end - every, every), allowed=tuple(sorted(allowed - ({alert.name} if not firing else set())))
        )
    ]
    if quiet and firing:
        silences.append(Silence(until=quiet, alerts=(alert.name,)))
    return Scenario(
        key=key,
        title=proof.title,
        alert=alert.name,
        interval=every,
        scope=scope,
        series=tuple(_distinct(series)),
        firing=firing,
        silences=tuple(silences),
        source=proof.source,
        origin=setting.origin,
    )


def own_scope(reader: FamilyReader | ClusterReader, key: str) -> dict[str, str]:
    """A cluster of its own for each scenario, so that many can share one test group; empty where the policy names it."""
    if isinstance(reader, ClusterReader):
        return {}
    selects = reader.family.document.runs.select
    return {label: key for label in reader.identity[:-1] if label not in selects}


def _present(labels: Mapping[str, str], placed: bool) -> dict[str, str]:
    """Without empty labels, and without a run where nothing tells which run stands on a node."""
    return {key: value for key, value in labels.items() if value and (placed or key != "run_id")}


def _tick(seconds: float, every: float) -> float:
    """The last evaluation at or before `seconds`."""
    return float(int(seconds // every) * every)


def _distinct(series: Sequence[Series]) -> list[Series]:
    """A selector given twice would silently win with its last values."""
    return list({one.selector: one for one in series}.values())


def _written(
    reader: FamilyReader, index: int, written: PolicyScenario, compiled: Mapping[str, Alert], roles: Sequence[str]
) -> Scenario:
    """A team's own incident: its values stand in the roles' base units, after a healthy stretch."""
    every = float(written.every)
    given = {role: expand(values) for role, values in written.series.items()}
    longest = max(len(values) for values in given.values())
    within = max((float(e.within) for e in written.expect), default=0.0)
    before = max(1, round(float(written.healthy_before) / every))
    after = max(longest, round(within / every) + 1)
    acts = (Act(phase="training", seconds=before * every), Act(phase="training", seconds=after * every))
    name, key = run_name(reader, 0), f"policy.{names.slug(written.name)}"
    scope = own_scope(reader, key)
    run = RunSimulation(reader, History(acts=acts), name, every, roles, scope)
    for role in given:
        if reader.has(role) and role not in run.roles:
            run.roles.append(role)
            run.samples[role] = []
    series = list(run.series())
    for role, values in given.items():
        padded = (*values, *([values[-1]] * (after - len(values))))
        if "{" in role:
            series.append(Series(selector=role, values=compress([None] * before + list(padded))))
            continue
        scale = reader.family.readings[role].sources[0].metric.scale
        healthy = run.samples[role][:before]
        raw: list[Sample] = [v / scale if isinstance(v, float) else v for v in padded]
        selector = run.selector(role)
        series = [s for s in series if s.selector != selector]
        series.append(Series(selector=selector, values=compress([*healthy, *raw])))
    start = before * every
    subject = {**scope, reader.run_label: name}
    expected = tuple(e.alert for e in written.expect)
    return Scenario(
        key=key,
        scope=scope,
        title=written.name,
        alert=expected[0] if expected else "",
        interval=every,
        series=tuple(_distinct(series)),
        firing=tuple(
            Firing(alert=e.alert, at=_tick(start + float(e.within), every), labels=(subject,))
            for e in written.expect
            if e.alert in compiled
        ),
        silences=(
            *((Silence(until=start + (after - 1) * every, alerts=tuple(written.quiet)),) if written.quiet else ()),
            *((Silence(until=start - every, alerts=expected),) if expected else ()),
        ),
        source="the policy",
        origin=reader.family.origin.at("scenarios", index),
    )
