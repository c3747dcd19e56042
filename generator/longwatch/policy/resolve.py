"""Documents → Policy: packs, organisation, family and variants merged by name, every value with its layer.

Expects documents that validate/ has accepted; what it still cannot resolve (an unknown exporter) comes back as diagnostics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from longwatch.catalogue.packs import PACKS, PackAlert
from longwatch.catalogue.signals import SIGNALS
from longwatch.diagnostics import Diagnostic, Origin, Severity, Trouble
from longwatch.policy.document import (
    AlertParameters,
    Alerts,
    ClusterDocument,
    ExporterDocument,
    FamilyDocument,
    OrganisationDocument,
    PolicyDocument,
    Variant,
)
from longwatch.policy.exporter import Exporter
from longwatch.policy.model import (
    AlertSetting,
    Cluster,
    Family,
    Organisation,
    Policy,
    Reading,
    ResolvedVariant,
    Source,
    Value,
)
from longwatch.suggest import closest
from longwatch.units import decode


class _Layer(msgspec.Struct, frozen=True):
    name: str
    values: Mapping[str, Any]
    origin: Origin | None


def resolve(
    documents: Sequence[tuple[str, PolicyDocument]],
    profiles: Mapping[str, Exporter],
    parameters: Mapping[str, type[AlertParameters]],
) -> tuple[Policy, tuple[Diagnostic, ...]]:
    """`documents`: (file, document) in file order; `parameters`: detector → its parameter type.

    Raises Trouble when there is no organisation, or more than one: nothing can be said about owners then. validate/ has
    said so when there is none, and what is wrong with it when it could not be read.
    """
    organisations = [(file, d) for file, d in documents if isinstance(d, OrganisationDocument)]
    if len(organisations) != 1:
        raise Trouble((_two_organisations(organisations),) if organisations else ())
    file, organisation = organisations[0]
    own = {d.profile.name: d.profile for _, d in documents if isinstance(d, ExporterDocument)}
    shadows = [
        Diagnostic(
            code="duplicate-name",
            severity=Severity.WARNING,
            message=f'the exporter profile "{d.profile.name}" stands in for the one that Longwatch brings',
            why="families that name it read other metrics than its manual says",
            help="where that is not meant, give it another name and use that in the families",
            origin=Origin(file=where, path=("profile", "name")),
        )
        for where, d in documents
        if isinstance(d, ExporterDocument) and d.profile.name in profiles
    ]
    work = _Resolver(
        Organisation(document=organisation, file=file, origin=Origin(file=file)), {**profiles, **own}, parameters
    )
    families = tuple(work.family(f, d) for f, d in documents if isinstance(d, FamilyDocument))
    clusters = tuple(work.cluster(f, d) for f, d in documents if isinstance(d, ClusterDocument))
    policy = Policy(
        organisation=work.organisation,
        families=tuple(sorted(families, key=lambda f: f.name)),
        clusters=tuple(sorted(clusters, key=lambda c: c.name)),
    )
    # A fault of the organisation shows in each family that inherits it.
    return policy, tuple(dict.fromkeys((*shadows, *work.problems)))


def _two_organisations(found: Sequence[tuple[str, OrganisationDocument]]) -> Diagnostic:
    return Diagnostic(
        code="two-organisations",
        message=f"a second policy of kind Organisation; the first is {found[0][0]}",
        why="two could name different teams and receivers",
        help="merge them into one file",
        origin=Origin(file=found[1][0], path=("kind",)),
    )


class _Resolver:
    """Collects problems while it resolves; lives for one call."""

    def __init__(
        self,
        organisation: Organisation,
        profiles: Mapping[str, Exporter],
        parameters: Mapping[str, type[AlertParameters]],
    ) -> None:
        self.organisation = organisation
        self.profiles = profiles
        self.parameters = parameters
        self.problems: list[Diagnostic] = []

    def family(self, file: str, document: FamilyDocument) -> Family:
        origin = Origin(file=file)
        used = self._exporters(document.exporters, origin)
        tier = self.organisation.document.tiers.get(document.tier or "")
        push = max((float(e.push_every) for e in used if e.push_every is not None), default=0.0)
        scrape = self.organisation.document.scrape
        training = [e for e in used if any(SIGNALS[r].kind != "info" for r in e.metrics if r in SIGNALS)]
        return Family(
            name=document.name,
            title=document.title,
            owner=document.owner,
            stage=document.stage,
            readings=_readings(used),
            settings=self._settings(document.alerts, "family", self.organisation.document.packs, origin),
            scrape=float(scrape.interval),
            rules=max(float(scrape.rules), 1.0),
            file=file,
            sources=(self.organisation.file, file),
            origin=origin,
            document=document,
            variants=tuple(
                self._variant(v, document.variants, max(float(scrape.interval), push), origin.at("variants", i))
                for i, v in enumerate(document.variants)
            ),
            pages=tier.pages if tier else ("critical",),
            push_every=push,
            scenarios=document.scenarios,
            survives_restart=tuple(r for e in training for r in e.survives_restart),
            phases=next((e.phases for e in used if "phase" in e.metrics), {}),
        )

    def cluster(self, file: str, document: ClusterDocument) -> Cluster:
        origin = Origin(file=file)
        scrape = self.organisation.document.scrape
        return Cluster(
            name=document.name,
            title=document.title,
            owner=document.owner,
            stage=document.stage,
            readings=_readings(self._exporters(document.exporters, origin)),
            settings=self._settings(document.alerts, "cluster", self.organisation.document.packs, origin),
            scrape=float(scrape.interval),
            rules=max(float(scrape.rules), 1.0),
            file=file,
            sources=(self.organisation.file, file),
            origin=origin,
            document=document,
        )

    def _exporters(self, wanted: Sequence[str], origin: Origin) -> tuple[Exporter, ...]:
        for index, name in enumerate(wanted):
            if name not in self.profiles:
                near = closest(name, self.profiles)
                self.problems.append(
                    Diagnostic(
                        code="unknown-exporter",
                        message=f'no exporter profile is called "{name}"',
                        why="without a profile no role has a metric, and its alerts could never fire",
                        help=f'did you mean "{near}"?'
                        if near
                        else f"known profiles: {', '.join(sorted(self.profiles))}",
                        origin=origin.at("exporters", index),
                    )
                )
        return tuple(self.profiles[name] for name in wanted if name in self.profiles)

    def _variant(self, variant: Variant, every: Sequence[Variant], sample: float, origin: Origin) -> ResolvedVariant:
        base = self._extended(variant, every, origin, (variant.name,))
        step, log = float(base.step_time or 0), base.log_every or 1
        publish = float(base.publish_every) if base.publish_every is not None else max(step * log, sample)
        return ResolvedVariant(
            name=variant.name,
            when=variant.when,
            ranks=base.ranks or 1,
            step_time=step,
            publish_every=max(publish, sample),
            baselines=base.baselines,
            origin=origin,
        )

    def _extended(self, variant: Variant, every: Sequence[Variant], origin: Origin, seen: tuple[str, ...]) -> Variant:
        if variant.extends is None:
            return variant
        parent = next((v for v in every if v.name == variant.extends), None)
        if parent is None or parent.name in seen:
            what = "extends itself" if parent else f'extends "{variant.extends}", which is no variant here'
            near = closest(variant.extends, [v.name for v in every])
            self.problems.append(
                Diagnostic(
                    code="unknown-variant",
                    message=f'variant "{variant.name}" {what}',
                    help=f'did you mean "{near}"?' if near and not parent else "name another variant of this family",
                    origin=origin.at("extends"),
                )
            )
            return variant
        parent = self._extended(parent, every, origin, (*seen, parent.name))
        return msgspec.structs.replace(
            variant,
            ranks=variant.ranks or parent.ranks,
            step_time=variant.step_time if variant.step_time is not None else parent.step_time,
            log_every=variant.log_every or parent.log_every,
            publish_every=variant.publish_every if variant.publish_every is not None else parent.publish_every,
            baselines={**parent.baselines, **variant.baselines},
        )

    def _settings(
        self, alerts: Alerts, scope: str, defaults: Sequence[str], origin: Origin
    ) -> tuple[AlertSetting, ...]:
        organisation = self.organisation
        own = Origin(file=organisation.file)
        # The family's own first: dashboards and rule files show them in this order.
        wanted = [(name, origin.at("alerts", "packs", i)) for i, name in enumerate(alerts.packs)]
        wanted += [(name, own.at("packs", i)) for i, name in enumerate(defaults) if name not in alerts.packs]
        inherited: dict[str, tuple[PackAlert, str, Origin]] = {}
        for name, place in wanted:
            pack = PACKS.get(name)
            if pack is None:
                self._unknown_pack(name, place, scope)
            elif pack.scope == scope:
                inherited.update({alert.name: (alert, pack.name, place) for alert in pack.alerts})
            elif place.file != organisation.file:
                self._unknown_pack(name, place, scope)
        for name in alerts.override:
            if name not in inherited:
                self._not_inherited(name, inherited, origin.at("alerts", "override", name, key=True))
        settings = [
            self._setting(
                alert.name,
                alert.detect,
                pack_name,
                (
                    _Layer(f"pack {pack_name}", _pack_values(alert), None),
                    _Layer(
                        "organisation",
                        organisation.document.override.get(alert.name, {}),
                        own.at("override", alert.name),
                    ),
                    _Layer(scope, alerts.override.get(alert.name, {}), origin.at("alerts", "override", alert.name)),
                ),
                alert.failures,
                place if alert.name not in alerts.override else origin.at("alerts", "override", alert.name, key=True),
            )
            for alert, pack_name, place in inherited.values()
        ]
        for name, values in alerts.add.items():
            place = origin.at("alerts", "add", name)
            detector = str(values.get("detect", ""))
            rest = {key: value for key, value in values.items() if key != "detect"}
            if detector in self.parameters:
                settings.append(
                    self._setting(name, detector, "", (_Layer(scope, rest, place),), (), place.at(key=True))
                )
        return tuple(s for s in settings if s is not None)

    def _setting(
        self, name: str, detector: str, pack: str, layers: Sequence[_Layer], failures: tuple[str, ...], origin: Origin
    ) -> AlertSetting | None:
        merged: dict[str, Any] = {}
        values: dict[str, Value] = {}
        for layer in layers:
            for key, value in layer.values.items():
                merged[key] = value
                place = layer.origin.at(key) if layer.origin else None
                values[key] = Value(path=key, value=str(value), layer=layer.name, origin=place)
        try:
            parameters = msgspec.convert(merged, self.parameters[detector], dec_hook=decode)
        except (msgspec.ValidationError, KeyError):
            return None  # validate/ has said what is wrong with the override or the addition
        return AlertSetting(
            name=name,
            detector=detector,
            pack=pack,
            parameters=parameters,
            values=tuple(values.values()),
            failures=failures,
            origin=origin,
        )

    def _unknown_pack(self, name: str, place: Origin, scope: str) -> None:
        own = place.file == self.organisation.file  # its packs are for families and clusters alike: say it once
        fitting = [p.name for p in PACKS.values() if own or p.scope == scope]
        near = closest(name, fitting)
        other = name in PACKS
        self.problems.append(
            Diagnostic(
                code="unknown-pack",
                message=f'pack "{name}" is not for a {scope}' if other else f'no pack is called "{name}"',
                why=f"it watches {'machines' if scope == 'family' else 'runs'}" if other else "",
                help=f'did you mean "{near}"?'
                if near and not other
                else f"packs{'' if own else f' for a {scope}'}: {', '.join(fitting)}",
                origin=place,
            )
        )

    def _not_inherited(self, name: str, inherited: Mapping[str, Any], place: Origin) -> None:
        home = next((p.name for p in PACKS.values() for a in p.alerts if a.name == name), None)
        near = closest(name, inherited)
        hint = (
            f'add "{home}" to packs, or remove the override'
            if home
            else f"alerts here: {', '.join(inherited) or 'none'}"
        )
        self.problems.append(
            Diagnostic(
                code="unknown-alert",
                message=f'there is no alert "{name}" to override',
                why=f'it belongs to pack "{home}", which this policy does not use'
                if home
                else "no pack of this policy brings it",
                help=f'did you mean "{near}"?' if near and not home else hint,
                origin=place,
            )
        )


def _pack_values(alert: PackAlert) -> Mapping[str, Any]:
    return {
        **alert.parameters,
        "severity": alert.severity,
        "causes": list(alert.causes),
        "remediation": alert.remediation,
    }


def _readings(exporters: Sequence[Exporter]) -> Mapping[str, Reading]:
    found: dict[str, list[Source]] = {}
    for exporter in exporters:
        for role, metrics in exporter.metrics.items():
            found.setdefault(role, []).extend(Source(exporter=exporter, metric=metric) for metric in metrics)
    return {role: Reading(role=role, sources=tuple(sources)) for role, sources in sorted(found.items())}
