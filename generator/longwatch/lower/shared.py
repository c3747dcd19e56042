"""Organisation → Shared: teams, receivers, severities, mute times, links and the log schema."""

from __future__ import annotations

import msgspec

from longwatch.ir.model import LogSchema, MuteTime, Receiver, SeverityRule, Shared, Team
from longwatch.policy.document import Logs, ReceiverDocument, SeverityDocument
from longwatch.policy.model import Organisation

_REQUIRED = ("timestamp", "level", "message", "run_id", "model_family", "cluster", "stage", "attempt", "rank")
_STAGES = ("data_ingestion", "preprocessing", "initialisation", "training", "validation", "checkpoint")
_METADATA = ("run_id", "rank", "step", "attempt", "trace_id", "span_id", "checkpoint_id")


def lower_shared(organisation: Organisation) -> Shared:
    document, origin = organisation.document, organisation.origin
    return Shared(
        name=document.name,
        teams=tuple(
            Team(
                name=name,
                title=team.title,
                contact=team.contact,
                notify=team.notify,
                page=team.page,
                escalation=team.escalation or "",
                origin=origin.at("teams", name),
            )
            for name, team in document.teams.items()
        ),
        receivers=tuple(_receiver(name, receiver, organisation) for name, receiver in document.receivers.items()),
        severities=tuple(
            SeverityRule(
                name=name,
                pages=name == "critical",
                repeat=float(rule.repeat),
                group_wait=float(rule.group_wait),
                group_interval=float(rule.group_interval),
            )
            for name in ("critical", "warning", "info")
            for rule in (document.severities.get(name, SeverityDocument()),)
        ),
        mute_times=tuple(
            MuteTime(
                name=name,
                teams=mute.teams,
                severities=mute.severities,
                weekdays=mute.weekdays,
                start=mute.start,
                end=mute.end,
                location=mute.location,
                reason=mute.reason,
            )
            for name, mute in document.mute_times.items()
        ),
        default_receiver=document.default_receiver,
        runbook_url=document.links.runbooks,
        grafana_url=document.links.grafana,
        prometheus_datasource=document.datasources.prometheus,
        loki_datasource=document.datasources.loki,
        logs=_logs(document.logs),
        sources=(organisation.file,),
        origin=origin,
    )


def _receiver(name: str, receiver: ReceiverDocument, organisation: Organisation) -> Receiver:
    """validate/ and checks/ have made sure that there is exactly one integration."""
    given = {field: getattr(receiver, field) for field in receiver.__struct_fields__}
    integration, settings = next((field, value) for field, value in given.items() if value is not None)
    fields = {key: value for key, value in msgspec.structs.asdict(settings).items() if value is not None}
    return Receiver(
        name=name, integration=integration, settings=fields, origin=organisation.origin.at("receivers", name)
    )


def _logs(logs: Logs) -> LogSchema:
    return LogSchema(
        required=_REQUIRED,
        levels=logs.levels,
        stages=_STAGES,
        labels=logs.labels,
        structured_metadata=_METADATA,
        masks=tuple((mask.name, mask.pattern) for mask in logs.masks),
        debug_sample=float(logs.debug_sample),
        paths=logs.paths,
        push_url=logs.push_url,
        retention=float(logs.retention),
    )
