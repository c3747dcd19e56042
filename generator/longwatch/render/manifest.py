"""out/manifest.json: the digest of each artefact and the policies that it came from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from longwatch.artifact import Artifact
from longwatch.render.json import dump

PATH = "manifest.json"


def manifest(artifacts: Sequence[Artifact]) -> Artifact:
    """An artifact that lists all others; digests are SHA-256 of the UTF-8 bytes."""
    files = [
        {
            "path": artifact.path,
            "sha256": hashlib.sha256(artifact.text.encode()).hexdigest(),
            "target": artifact.target,
            "policies": list(artifact.sources),
        }
        for artifact in sorted(artifacts, key=lambda artifact: artifact.path)
    ]
    return Artifact(path=PATH, text=dump({"files": files}), target="manifest")
