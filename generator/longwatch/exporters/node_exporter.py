"""Linux hosts as node_exporter sees them: space on filesystems and memory.

What it is: one exporter per host, scraped; everything here is on by default.

Which label carries the run: none; the placement join adds it, on the node. The node is `instance` without its port;
where `instance` is an address and the scheduler uses names, rewrite it in `relabel_configs`. An IPv6 address does not
match. `cluster` is a target label of yours.

Pitfalls:
- `avail` is the space that users who are not root can fill; `free` includes the reserve of root.
- Shared storage shows on every host that mounts it, with the same numbers: alert once, per device or mount point.
- tmpfs is a filesystem here, and overlay is not (`--collector.filesystem.fs-types-exclude`): name the mount points.
- A mount that hangs has no space, but `node_filesystem_device_error` 1.
- In a container the exporter has to see the host: `--path.rootfs=/host` and `hostPID`, else it reports its own mounts.
"""

from __future__ import annotations

from longwatch.policy.exporter import Exporter, Label, LabelName, Metric

_REPOSITORY = "prometheus/node_exporter@a7dcc3a01545180d4f2087db70994cbc3abfed13"
_NODE: dict[LabelName, Label] = {
    "node": Label(label="instance", pattern="([^:]+)(?::[0-9]+)?"),
    "cluster": Label(label="cluster"),
}
_MOUNT = {**_NODE, **{name: Label(label=name) for name in ("mountpoint", "device", "fstype")}}


def _disk(name: str) -> tuple[Metric, ...]:
    source = f"{_REPOSITORY}:collector/filesystem_common.go"
    return (Metric(name=name, type="gauge", unit="bytes", labels=_MOUNT, source=source),)


def _memory(name: str) -> tuple[Metric, ...]:
    return (Metric(name=name, type="gauge", unit="bytes", source=f"{_REPOSITORY}:collector/meminfo_linux.go"),)


EXPORTER = Exporter(
    name="node_exporter",
    title="Linux hosts (node_exporter)",
    labels=_NODE,
    metrics={
        "disk_free": _disk("node_filesystem_avail_bytes"),
        "disk_size": _disk("node_filesystem_size_bytes"),
        "host_memory_available": _memory("node_memory_MemAvailable_bytes"),
        "host_memory_total": _memory("node_memory_MemTotal_bytes"),
    },
)
