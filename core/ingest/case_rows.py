"""Storing labelled questions."""

from __future__ import annotations

import json

from core.ingest.items import CaseItem
from core.ingest.outcome import Outcome, Target, content_hash


def store_case(target: Target, item: CaseItem) -> Outcome:
    """By its id; another body replaces the stored one."""
    body = json.dumps(dict(item.body), ensure_ascii=False, sort_keys=True)
    target.repeated("case", item.case_id, content_hash(body))
    key = (target.dataset_id, item.case_id)
    stored = target.rows("SELECT body FROM labelled_case WHERE dataset_id = ? AND case_id = ?", *key)
    if stored and stored[0][0] == body:
        return "unchanged"
    target.connection.execute(
        """INSERT INTO labelled_case (dataset_id, case_id, body) VALUES (?, ?, ?)
           ON CONFLICT (dataset_id, case_id) DO UPDATE SET body = excluded.body""",
        (*key, body),
    )
    return "updated" if stored else "added"
