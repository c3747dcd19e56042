"""NVIDIA GPUs as dcgm-exporter sees them.

What it is: the fields of a CSV file (`etc/default-counters.csv`), read every 30 s and scraped, one series per GPU.

How to switch on what is off by default: add the field to the CSV, by the configuration map of the Helm chart or
`--collectors FILE`. The clock event reasons are in no shipped CSV: `DCGM_FI_DEV_CLOCKS_EVENT_REASONS, gauge, Clock
event reasons`. The last XID is on, except in the set of metrics that GKE manages. A field is exported under the name
that the CSV calls it by, so the names in use depend on your CSV, and a name that the DCGM library does not know stops
the exporter.

Which label carries the run: none; the placement join adds it, on the node. `Hostname` names the node, and is spelt
`hostname` on dcgm-exporter's main branch after 4.5.3-4.8.2. Both spellings are alternatives here. In a pod the host
name is the pod's unless the chart passes the node name (`NODE_NAME`). `hpc_job`, with `--hpc-job-mapping-dir`, is an
id and no name of a run.

Pitfalls:
- DCGM 4.6 renames fields (`DCGM_FI_DEV_XID_ERRORS` to `DCGM_FI_DEV_XID_ERROR`) and keeps the old names as aliases;
  earlier, `CLOCK_THROTTLE_REASONS` became `CLOCKS_EVENT_REASONS`.
- The XID gauge is sticky: it shows the last XID until the next one or a restart, and 0 before the first. `err_code`
  carries the same code, so an edge is a code that was not there before; a repetition of a code cannot be seen here, but
  `DCGM_EXP_XID_ERRORS_COUNT` (off) counts them in a sliding window.
- The clock event reasons are a bit mask: 1 idle, 2 clock setting, 4 power cap, 8 hardware slowdown, 0x10 sync boost,
  0x20 software thermal, 0x40 hardware thermal, 0x80 power brake, 0x100 display. Idle and power cap are normal.
- The scrape is faster than the collection: two equal samples in a row are normal.
- With `honorLabels: false`, the default of the chart, `pod`, `namespace` and `container` of the GPU's user become
  `exported_*`.
- On MIG, instances share `gpu` and differ in `GPU_I_ID`.
"""

from __future__ import annotations

from longwatch.policy.exporter import Exporter, Label, LabelName, Metric

_OLD_HOST = "NVIDIA/dcgm-exporter@691c92762eb551313c825f6efe4ceeee20982801"
_NEW_HOST = "NVIDIA/dcgm-exporter@d5e5f510a1b6b393f39a43293ccd9dc985defc79"
_FIELDS = "NVIDIA/DCGM@72fa3feaa67d716a75323a8f47c34ff3ee73f824:dcgmlib/dcgm_fields.h"
_BITS = "a bit mask; 0xE8 are the harmful reasons"
_STICKY = "sticky: the last code, 0 before the first"


def _spellings(name: str, source: str, note: str, **also: str) -> tuple[Metric, ...]:
    """The same field under both spellings of the host label, each matching only the series that carry it."""
    return tuple(
        Metric(
            name=name,
            type="gauge",
            matchers={host: ".+"},
            labels={**_labels(host), **{ours: Label(label=theirs) for ours, theirs in also.items()}},
            default_on="XID" in name,
            note=note,
            source=source,
        )
        for host in ("hostname", "Hostname")
    )


def _labels(host: str) -> dict[LabelName, Label]:
    return {"node": Label(label=host), "gpu": Label(label="gpu"), "cluster": Label(label="cluster")}


EXPORTER = Exporter(
    name="dcgm",
    title="NVIDIA GPUs (dcgm-exporter)",
    labels=_labels("Hostname"),
    metrics={
        "gpu_clock_event_reasons": (
            *_spellings("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", _FIELDS, f"add it to the CSV; {_BITS}"),
            *_spellings("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", _FIELDS, f"the older name; add it to the CSV; {_BITS}"),
        ),
        "gpu_xid": (
            *_spellings("DCGM_FI_DEV_XID_ERROR", _FIELDS, f"the name of DCGM 4.6; {_STICKY}", err_code="err_code"),
            *_spellings(
                "DCGM_FI_DEV_XID_ERRORS", f"{_NEW_HOST}:etc/default-counters.csv", _STICKY, err_code="err_code"
            ),
        ),
    },
)
