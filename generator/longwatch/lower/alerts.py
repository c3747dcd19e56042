"""AlertSetting → Alert: the detector gives the condition, this module the owner, stage, texts and links."""

from __future__ import annotations

from datetime import UTC, datetime

from longwatch.catalogue.packs import PACKS
from longwatch.catalogue.signals import SIGNALS
from longwatch.ir import names
from longwatch.ir.model import Alert, Record, Unprotected
from longwatch.plugins.front import Lowered, detectors
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.document import OrganisationDocument
from longwatch.policy.model import AlertSetting, Family, Subject


def lower_alerts(
    subject: Subject, reader: FamilyReader | ClusterReader, organisation: OrganisationDocument
) -> tuple[tuple[Alert, ...], tuple[Record, ...], tuple[Unprotected, ...]]:
    """The alerts of a subject, the records that they need, and what was left out and why."""
    alerts: list[Alert] = []
    records: dict[tuple[str, str], Record] = {}
    unprotected: list[Unprotected] = []
    for setting in subject.settings:
        detector = detectors()[setting.detector]
        missing = detector.needs(reader, setting)
        if missing:
            if not missing.startswith("nothing:"):
                unprotected.append(_left_out(subject, setting, missing))
            continue
        for lowered in detector.lower(reader, setting):
            alerts.append(_alert(subject, setting, lowered, organisation))
            records |= {(record.name, str(sorted(record.labels.items()))): record for record in lowered.records}
    return tuple(alerts), tuple(records.values()), (*unprotected, *_unused(subject))


def _unused(subject: Subject) -> tuple[Unprotected, ...]:
    """Alerts of the packs that the subject does without."""
    scope = "family" if isinstance(subject, Family) else "cluster"
    has = {setting.name for setting in subject.settings}
    return tuple(
        Unprotected(
            alert=alert.name,
            reason=f"pack {pack.name} is not used",
            remedy=f"add {pack.name} to the packs, or leave it out with open eyes",
            origin=subject.origin.at("alerts", "packs"),
        )
        for pack in PACKS.values()
        if pack.scope == scope
        for alert in pack.alerts
        if alert.name not in has
    )


def _left_out(subject: Subject, setting: AlertSetting, missing: str) -> Unprotected:
    used = ", ".join(subject.document.exporters) if hasattr(subject, "document") else ""
    return Unprotected(
        alert=setting.name,
        reason=f"it needs {missing}; {used} does not give it" if missing in SIGNALS else f"it needs {missing}",
        remedy="add an exporter that provides it, or leave the pack out with open eyes"
        if missing in SIGNALS
        else "give the policy what it needs, or leave the pack out with open eyes",
        origin=setting.origin,
    )


def _alert(subject: Subject, setting: AlertSetting, lowered: Lowered, organisation: OrganisationDocument) -> Alert:
    parameters = setting.parameters
    severity = parameters.severity or "warning"
    owner = parameters.owner or subject.owner
    team = organisation.teams.get(owner)
    identity = lowered.identity or (subject.identity if isinstance(subject, Family) else ("cluster",))
    about = _subject_text(identity, subject)
    summary = f"{about}: {parameters.summary or lowered.summary}"
    causes = parameters.causes or ()
    lines = [
        *([f"{about} of {_literal(subject.title)}."] if set(identity) - {"cluster"} else []),
        f"Seen: {lowered.seen}.",
        f"Expected: {_literal(lowered.expected)}.",
    ]
    if any("run_owner" in join.take for join in lowered.joins):
        lines.append(
            "{{ if $labels.run_id }}Run on this node: {{ $labels.run_id }} ({{ $labels.run_owner }}).{{ else }}No run stands on this node.{{ end }}"
        )
    if causes:
        lines.append(f"Likely causes: {'; '.join(causes)}.")
    if team is not None:
        next_team = organisation.teams.get(team.escalation or "")
        escalation = f"; unanswered: {_literal(next_team.title)} ({_literal(next_team.contact)})" if next_team else ""
        lines.append(f"Owner: {_literal(team.title)} ({_literal(team.contact)}){escalation}.")
    kind = "families" if isinstance(subject, Family) else "clusters"
    links = organisation.links
    uid = names.uid(kind, subject.name)
    variables = "".join(f"&var-{label}={{{{ $labels.{label} }}}}" for label in identity)
    return Alert(
        name=setting.name,
        detector=setting.detector,
        family=subject.name,
        conditions=lowered.conditions,
        guards=lowered.guards,
        joins=lowered.joins,
        for_=float(parameters.for_) if parameters.for_ is not None else lowered.for_,
        keep_firing_for=float(parameters.keep_firing_for)
        if parameters.keep_firing_for is not None
        else lowered.keep_firing_for,
        severity=severity,
        owner=owner,
        stage=_stage(subject, setting, severity),
        identity=identity,
        labels=lowered.labels,
        summary=summary,
        description="\n".join(lines),
        remediation=parameters.remediation or "",
        causes=causes,
        links=(
            (
                "runbook_url",
                parameters.runbook or f"{_literal(links.runbooks.rstrip('/'))}/{names.kebab(setting.name)}",
            ),
            ("dashboard_url", f"{_literal(links.grafana.rstrip('/'))}/d/{uid}?viewPanel=@panel@{variables}"),
        ),
        absence=lowered.absence,
        nan=lowered.nan,
        pauses=lowered.pauses,
        windows=lowered.windows,
        rearm_at=_rearm_at(setting),
        disabled_reason=(parameters.reason or "") if parameters.disable else "",
        panel_title=lowered.panel_title,
        expected=lowered.expected,
        signals=lowered.signals,
        origin=setting.origin,
    )


def _literal(text: str) -> str:
    """What people wrote, for a template that must not read it."""
    return text.replace("{{", '{{"{{"}}')


def _subject_text(identity: tuple[str, ...], subject: Subject) -> str:
    shown = {"run_id": "run {{ $labels.run_id }}", "node": "node {{ $labels.node }}", "gpu": "GPU {{ $labels.gpu }}"}
    words = [shown.get(label, f"{label} {{{{ $labels.{label} }}}}") for label in identity if label != "cluster"]
    words = [word for word in words if not word.startswith("code ")]
    return " ".join(words) if words else f"{subject.name}"


def _stage(subject: Subject, setting: AlertSetting, severity: str) -> str:
    """A severity that does not page in the family's tier is demoted to notify."""
    stage = setting.parameters.stage or subject.stage
    if stage == "page" and isinstance(subject, Family) and severity == "critical" and severity not in subject.pages:
        return "notify"
    return stage


def _rearm_at(setting: AlertSetting) -> int:
    """Midnight UTC of `until`, in unix seconds; 0 when the alert is armed."""
    parameters = setting.parameters
    if not parameters.disable or parameters.until is None:
        return 0
    return int(datetime.strptime(parameters.until, "%Y-%m-%d").replace(tzinfo=UTC).timestamp())
