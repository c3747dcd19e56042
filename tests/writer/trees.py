"""Small outputs to write, and what then lies on the disk."""

from __future__ import annotations

import json
from pathlib import Path

from longwatch.artifact import Artifact


def artifacts(files: dict[str, str]) -> tuple[Artifact, ...]:
    manifest = json.dumps({"files": [{"path": path} for path in files]})
    both = {**files, "manifest.json": manifest}
    return tuple(Artifact(path=path, text=text, target="prometheus") for path, text in both.items())


def tree(out: Path) -> dict[str, str]:
    return {
        path.relative_to(out).as_posix(): path.read_text()
        for path in out.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    }


OLD = {"rules/a.yml": "a1", "rules/b.yml": "b1", "deep/er/c.yml": "c1"}
NEW = {"rules/a.yml": "a2", "rules/b.yml": "b1", "new/d.yml": "grüße\n"}
