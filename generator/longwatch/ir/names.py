"""Every name that Longwatch invents: recorded series, rule groups, test keys, dashboard uids, labels."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

FAMILY = "model_family"
"""Label that tells the families' recorded series apart."""

SEEN = "lw_run:seen:time"
FINISHED = "lw_run:finished:time"
OVER = "lw_run:over:time"
ACTIVE = "lw_run:active:age_seconds"
ATTEMPT_START = "lw_run:attempt_start:time"
PROGRESS = "lw_run:progress:time"
FIRST_STEP = "lw_run:first_step:time"
ATTEMPT_STEP = "lw_run:attempt_step:time"
STALL_LIMIT = "lw_run:stall_limit:seconds"
VARIANT = "lw_run:variant:info"
RUN_INFO = "lw_run:family:info"
PLACEMENT = "lw_node:placement:info"


def level(role: str, operation: str) -> str:
    """The recorded series of a role per run, e.g. lw_run:loss:max."""
    return f"lw_run:{role}:{operation}"


def selector(name: str, labels: Mapping[str, str]) -> str:
    """`name{a="b"}` with values escaped for PromQL."""
    if not labels:
        return name
    return f"{name}{{{', '.join(f'{key}={quote(value)}' for key, value in labels.items())}}}"


def quote(value: str) -> str:
    """A PromQL (and Go) double-quoted string."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def group(subject: str) -> str:
    """Name of the one rule group of a family or cluster."""
    return f"longwatch.{subject}"


def slug(text: str) -> str:
    """Lower case words joined by dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def kebab(name: str) -> str:
    """TrainingStalled → training-stalled."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


def uid(kind: str, name: str) -> str:
    """Dashboard uid, at most 40 characters, stable under retitling."""
    digest = hashlib.sha256(f"{kind}/{name}".encode()).hexdigest()[:12]
    return f"lw-{name[:24].strip('-')}-{digest}"
