"""XID codes by what they ask for. Sources: NVIDIA's XID catalogue and leptonai/gpud, which disagree on 43, 45, 63 and 94."""

from __future__ import annotations

RESET = (62, 64, 95, 109, 110, 119, 120, 136, 140, 143, 155, 156, 158)
REBOOT = (79,)
WORKFLOW = (48, 74, 144, 145, 146, 147, 148, 149, 150)
CRITICAL = tuple(sorted((*RESET, *REBOOT, *WORKFLOW)))
"""Codes after which the GPU is not fit for training until somebody acts."""
