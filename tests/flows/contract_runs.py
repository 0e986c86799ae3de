"""The examples of the contract of template runs, as it has them (002 §2 to §7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

Example = dict[str, Any]

REQUESTS: tuple[tuple[str, Example], ...] = (
    ("get_runtime_profile", {}),
    ("list_task_templates", {}),
    (
        "run_task_template",
        {
            "templateId": "batch_extract_pages",
            "templateVersion": "1.0.0",
            "sessionId": "sess_xxx",
            "inputs": {"urls": ["https://example.com/a"]},
            "options": {"timeoutMs": 120_000, "mode": "auto"},
        },
    ),
    ("get_task_run", {"runId": "run_123"}),
    ("list_task_runs", {"status": "running", "templateId": "batch_extract_pages", "limit": 20, "offset": 0}),
    ("cancel_task_run", {"runId": "run_123"}),
    ("get_artifact", {"artifactId": "art_1", "offset": 0, "limit": 262_144}),
    ("get_artifact", {"artifactId": "art_2"}),
    ("get_artifact", {"artifactId": "art_2", "offset": 262_144}),
)
"""What is asked, by the tool."""

PROFILE: Example = {
    "runtimeVersion": "0.2.0",
    "limits": {"maxConcurrentRuns": 5, "maxRunTimeoutMs": 900_000, "maxArtifactInlineBytes": 262_144},
}
TEMPLATES: Example = {
    "templates": [
        {
            "templateId": "batch_extract_pages",
            "version": "1.0.0",
            "name": "批量页面结构化采集",
            "trustLevelSupport": ["local", "remote"],
            "limits": {"maxUrls": 1_000, "maxConcurrency": 5},
            "inputsSchema": {"type": "object"},
            "outputsSchema": {"type": "object"},
        }
    ]
}
ACCEPTED: Example = {"runId": "run_123", "status": "queued", "createdAt": 1_739_145_600_000}
SYNC: Example = {
    "runId": "run_123",
    "templateId": "batch_extract_pages",
    "status": "succeeded",
    "progress": {"totalSteps": 2, "doneSteps": 2},
    "metrics": {"elapsedMs": 3_200},
    "result": {
        "summary": {"total": 2, "succeeded": 2, "failed": 0},
        "items": [{"url": "https://example.com/a", "title": "Page A", "success": True}],
    },
}
RUNNING: Example = {
    "runId": "run_123",
    "templateId": "batch_extract_pages",
    "status": "running",
    "progress": {"totalSteps": 20, "doneSteps": 8},
    "metrics": {"elapsedMs": 5_230},
}
ENDED: Example = {
    "runId": "run_123",
    "templateId": "batch_extract_pages",
    "status": "partial_success",
    "progress": {"totalSteps": 20, "doneSteps": 20},
    "metrics": {"elapsedMs": 18_022},
    "result": {"summary": {"total": 10, "succeeded": 9, "failed": 1}, "items": []},
    "artifacts": [{"artifactId": "art_1", "type": "json", "size": 12_043}],
}
LISTED: Example = {
    "runs": [
        {
            "runId": "run_123",
            "templateId": "batch_extract_pages",
            "status": "running",
            "createdAt": 1_739_145_600_000,
            "updatedAt": 1_739_145_605_230,
        }
    ]
}
CANCELED: Example = {"cancelRequested": True, "currentStatus": "running"}
WHOLE: Example = {
    "artifactId": "art_1",
    "mimeType": "application/json",
    "size": 1_024,
    "data": "...base64...",
    "complete": True,
}
PIECE: Example = {
    "artifactId": "art_2",
    "mimeType": "text/csv",
    "size": 5_242_880,
    "data": "...base64...",
    "offset": 0,
    "bytesReturned": 262_144,
    "complete": False,
}
FAULT: Example = {
    "error": "step failed",
    "errorCode": "STEP_EXECUTION_FAILED",
    "recoverHint": "retry with smaller batch size",
    "details": {"runId": "run_123", "failedStep": "navigate", "stepErrorCode": "NAVIGATION_TIMEOUT"},
}

ANSWERS: tuple[tuple[str, Example], ...] = (
    ("get_runtime_profile", PROFILE),
    ("list_task_templates", TEMPLATES),
    ("run_task_template", ACCEPTED),
    ("run_task_template", SYNC),
    ("get_task_run", RUNNING),
    ("get_task_run", ENDED),
    ("list_task_runs", LISTED),
    ("cancel_task_run", CANCELED),
    ("get_artifact", WHOLE),
    ("get_artifact", PIECE),
    ("run_task_template", FAULT),
)
"""What is answered, by the tool."""


def lacking(example: Any, served: Any, path: str = "$") -> list[str]:
    """Return what of an example is not in what was served, or is of another kind there; a list is told by its rows."""
    if isinstance(example, dict) and isinstance(served, dict):
        wanted, given = cast("Example", example), cast("Example", served)
        return [
            one
            for name, value in wanted.items()
            for one in (lacking(value, given[name], f"{path}.{name}") if name in given else [f"{path}.{name}"])
        ]
    if isinstance(example, list) and isinstance(served, list):
        rows, served_rows = cast("Sequence[Any]", example), cast("Sequence[Any]", served)
        return lacking(rows[0], served_rows[0], f"{path}[0]") if rows and served_rows else []
    kind = type(cast("object", served))
    return [] if type(cast("object", example)) is kind else [f"{path}: {kind.__name__}"]
