"""How detectors read signals: roles become PromQL over a run's or a device's series, with our label names.

A reader is a view of one resolved policy; it holds no state of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from longwatch.catalogue.signals import SIGNALS, Signal
from longwatch.ir import names
from longwatch.ir.model import Guard, Join, Window
from longwatch.policy.exporter import Label
from longwatch.policy.model import Cluster, Family, Source
from longwatch.units import promql_duration

SCHEDULER_ROLES = ("job_running", "job_finished", "placement")
HEARTBEATS = ("phase", "last_step", "step", "steps_done", "loss")
PROGRESS_ROLES = ("last_step", "step", "steps_done", "samples", "tokens")
THROUGHPUT_ROLES = ("tflops_per_gpu", "tokens_per_second", "samples_per_second", "mfu", "step_time")


def matchers(selects: Mapping[str, str], extra: tuple[str, ...] = ()) -> str:
    """The inside of a selector: equality for `selects`, then `extra` as they stand."""
    return ", ".join((*(f"{key}={names.quote(value)}" for key, value in selects.items()), *extra))


def label_of(source: Source, ours: str) -> Label:
    """Where a metric carries one of our labels."""
    return source.metric.labels.get(ours) or source.exporter.labels.get(ours) or Label(label=ours)


def renamed(inner: str, source: Source, labels: tuple[str, ...]) -> str:
    """`inner` with the exporter's labels copied to ours."""
    for ours in labels:
        label = label_of(source, ours)
        if label.label != ours or label.pattern != "(.+)":
            inner = f'label_replace({inner}, "{ours}", "$1", "{label.label}", {names.quote(label.pattern)})'
    return inner


def joined(inner: str, source: Source) -> str:
    """`inner` with the label that only another info metric knows."""
    via = source.metric.through
    if via is None:
        return inner
    on = ", ".join(via.on)
    wanted = matchers({}, tuple(f"{key}=~{names.quote(value)}" for key, value in via.matchers.items()))
    known = f"topk by ({on}) (1, max by ({on}, {via.take}) ({via.metric}{{{wanted}}}))"
    return f"{inner} * on ({on}) group_left ({via.take}) {known}"


def in_base_unit(expr: str, scale: float) -> str:
    return expr if scale == 1 else f"{expr} * {scale:.12g}"


class FamilyReader(msgspec.Struct, frozen=True):
    """Signals of a family, per run."""

    family: Family

    @property
    def identity(self) -> tuple[str, ...]:
        return self.family.identity

    @property
    def by(self) -> str:
        return ", ".join(self.family.identity)

    @property
    def run_label(self) -> str:
        """The last label of the identity: the one that is a run's own."""
        return self.family.identity[-1]

    def has(self, role: str) -> bool:
        return role in self.family.readings

    def first(self, roles: tuple[str, ...]) -> str:
        """The first of `roles` that an exporter provides; empty when none does."""
        return next((role for role in roles if self.has(role)), "")

    def signal(self, role: str) -> Signal:
        return SIGNALS[role]

    def recorded(self, name: str) -> str:
        """One of our own series, of this family only."""
        return names.selector(name, {names.FAMILY: self.family.name})

    def _selector(self, role: str, source: Source, lacking: str, suffix: str, more: Mapping[str, str]) -> str:
        metric = source.metric
        extra = [f"{key}=~{names.quote(value)}" for key, value in metric.matchers.items()]
        run = label_of(source, self.run_label).label
        selects: Mapping[str, str] = {}
        if role in SCHEDULER_ROLES:
            pattern = self.family.document.runs.name_pattern
            extra += [f'{label_of(source, own).label}!=""' for own in self.identity[:-1]]
            if metric.through is None:
                extra.append(f"{run}=~{names.quote(pattern)}" if pattern else f'{run}!=""')
        else:
            selects = {**self.family.document.runs.select, **more}
            if lacking:
                extra.append(f'{label_of(source, lacking).label}=""')
            else:
                extra += [f'{label_of(source, own).label}!=""' for own in self.identity]
        return f"{metric.name}{suffix}{{{matchers(selects, tuple(extra))}}}"

    def raw(
        self,
        role: str,
        wrap: str = "{}",
        *,
        lacking: str = "",
        suffix: str = "",
        more: Mapping[str, str] = {},
        scaled: bool = False,
    ) -> str:
        """The raw series of `role`, still per rank, with our label names.

        `wrap` goes round each selector, e.g. `timestamp({})`; `more` are further labels that a series must have;
        `lacking` names a label of the identity that it must not have (all are required otherwise); `scaled`: base unit.
        """
        parts = []
        for source in self.family.readings[role].sources:
            inner = joined(wrap.replace("{}", self._selector(role, source, lacking, suffix, more)), source)
            named = renamed(inner, source, (*self.identity, *(("node",) if role == "placement" else ())))
            parts.append(in_base_unit(named, source.metric.scale) if scaled else named)
        return " or ".join(parts)

    def per_run(
        self, role: str, wrap: str = "{}", aggregation: str = "max", *, suffix: str = "", scaled: bool = False
    ) -> str:
        """`role` aggregated to one series per run; `scaled`: each exporter's in the base unit."""
        return f"{aggregation} by ({self.by}) ({self.raw(role, wrap, suffix=suffix, scaled=scaled)})"

    def operation(self, role: str) -> str:
        """How a role is recorded per run: mean for histograms, max where higher is worse, else avg."""
        if self.family.readings[role].sources[0].metric.type == "histogram":
            return "mean"
        return "avg" if SIGNALS[role].better == "higher" else "max"

    def level(self, role: str) -> str:
        """The recorded series of `role`: one per run, base unit."""
        return self.recorded(names.level(role, self.operation(role)))

    def mean(self, role: str, window: float) -> str:
        """Mean of `role` over `window` seconds, per run."""
        if self.operation(role) == "mean":
            return self.histogram_mean(role, window)
        return f"avg_over_time({self.level(role)}[{promql_duration(window)}])"

    def histogram_mean(self, role: str, window: float) -> str:
        """Sum over count of a histogram in `window` seconds, per run, base unit."""
        wrap = "rate({}" + f"[{promql_duration(window)}])"
        scale = self.family.readings[role].sources[0].metric.scale
        above, below = (self.per_run(role, wrap, "sum", suffix=suffix) for suffix in ("_sum", "_count"))
        return in_base_unit(f"{above} / ({below} > 0)", scale)

    # windows, in seconds ------------------------------------------------------------------------------------------

    @property
    def change_window(self) -> float:
        """Range in which a change is looked for: at least two samples and two evaluations, never on their grid."""
        return 2.5 * max(self.family.sample_every, self.family.rules)

    @property
    def gone_after(self) -> float:
        """Age of the newest sample beyond which a run counts as absent: four samples."""
        return max(60.0, 4 * self.family.sample_every)

    def publications(self, count: float) -> float:
        """At least `count` publications, 10 steps and 4 samples, in whole evaluations, and half an evaluation off their grid.

        Ranges that equal a multiple of the spacing read one sample more on Prometheus 2 than on 3.
        """
        rules = self.family.rules
        least = max(count * self.family.publish_every, 10 * self.family.step_time, 4 * self.family.sample_every)
        return float((int(-(-least // rules)) + 0.5) * rules)

    def holds(self, count: float) -> float:
        """A `for` of `count` publications, in whole evaluations, at least one."""
        rules = self.family.rules
        return float(max(1, int(-(-count * self.family.publish_every // rules))) * rules)

    @property
    def grid(self) -> float:
        """Seconds between samples of a test: one publication where that is coarser than the rules, else one evaluation.

        Beyond Prometheus' five minutes of look-back a recorded series would blink.
        """
        publish, rules = self.family.publish_every, self.family.rules
        return publish if rules < publish <= 240 else rules

    def lasting(self, seconds: float) -> float:
        """`seconds` in whole samples of a test, at least one."""
        return float(max(1, int(-(-seconds // self.grid))) * self.grid)

    # guards -----------------------------------------------------------------------------------------------------------

    def active(self) -> Guard:
        return Guard(expr=self.recorded(names.ACTIVE), on=self.identity, reason="the run is present and not finished")

    def stepped(self) -> Guard:
        """Drops runs whose current attempt has not made a step yet."""
        started, progress = self.recorded(names.ATTEMPT_START), self.recorded(names.PROGRESS)
        return Guard(
            expr=f"({started} > on ({self.by}) {progress}) or ({started} unless on ({self.by}) {progress})",
            on=self.identity,
            unless=True,
            reason="this attempt has made a step (before that, TrainingStuckAtStart watches)",
        )

    def settled(self, window: float, *, warm_up: bool = True) -> tuple[Guard, ...]:
        """The window lies inside this attempt, and inside the run's life after its warm-up."""
        warm = self.family.document.lifecycle.warm_up.steps * self.family.step_time if warm_up else 0.0
        guards = [
            Guard(
                expr=f"time() - {self.recorded(names.ATTEMPT_STEP)} > {window:g}",
                on=self.identity,
                reason=f"the window of {promql_duration(window)} lies inside this attempt",
            )
        ]
        if warm:
            guards.append(
                Guard(
                    expr=f"time() - {self.recorded(names.FIRST_STEP)} > {warm + window:g}",
                    on=self.identity,
                    reason=f"the run is past its warm-up of {promql_duration(warm)}",
                )
            )
        return tuple(guards)

    def pace(self) -> Window:
        """The publication interval, for explain."""
        return Window(
            name="publication interval",
            value=promql_duration(self.family.publish_every),
            reason="max(step time × log interval, scrape, push), or as the policy says",
        )


class ClusterReader(msgspec.Struct, frozen=True):
    """Signals of a cluster, per device, node or filesystem."""

    cluster: Cluster

    def has(self, role: str) -> bool:
        return role in self.cluster.readings

    def signal(self, role: str) -> Signal:
        return SIGNALS[role]

    def subject(self, role: str) -> tuple[str, ...]:
        """Labels that name what the role is measured on."""
        if role == "placement":
            return ("cluster", "node", "run_id")
        return {
            "device": ("cluster", "node", "gpu"),
            "node": ("cluster", "node"),
            "filesystem": ("cluster", "node", "mountpoint"),
        }.get(SIGNALS[role].per, ("cluster", "node"))

    def placed(self, *, optional: bool) -> Join:
        """The run on a node, with its family and its owner. Optional: idle nodes are kept."""
        return Join(
            expr=names.PLACEMENT,
            on=("cluster", "node"),
            take=("run_id", "model_family", "run_owner"),
            optional=optional,
            reason="the message names the run that stands on the node, and its owner",
        )

    def per_subject(self, role: str, wrap: str = "{}", aggregation: str = "max") -> str:
        """One series per device, node or filesystem, base unit (unless wrapped)."""
        labels = self.subject(role)
        parts = []
        for source in self.cluster.readings[role].sources:
            metric = source.metric
            extra = tuple(f"{key}=~{names.quote(value)}" for key, value in metric.matchers.items())
            selects = {} if role in SCHEDULER_ROLES else self.cluster.document.select
            inner = joined(wrap.replace("{}", f"{metric.name}{{{matchers(selects, extra)}}}"), source)
            parts.append(in_base_unit(renamed(inner, source, labels), metric.scale))
        return f"{aggregation} by ({', '.join(labels)}) ({' or '.join(parts)})"
