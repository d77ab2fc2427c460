"""A minute of fifty concurrent callers: two users with two datasets each, remembering and asking."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.service.conftest import answering, served
from tests.core.service.test_isolation import check
from tests.core.service.traffic import Scribe, send

SECONDS, CALLERS = 60, 50


@pytest.mark.bench
def test_bench_fifty_callers_for_a_minute(make_workspace):
    from core.service.app import create_app
    from core.service.workers import Workers

    workspace = make_workspace([])
    app = create_app(answering(workspace, chat=Scribe()), workers=Workers())
    with served(app) as address:
        outcome = send(address, callers=CALLERS, seconds=SECONDS)
    check(outcome, workspace.store)
    middle, late = np.percentile(outcome.seconds, [50, 95])
    kept = sum(map(len, outcome.sent.values()))
    print(
        f"\n{CALLERS} callers, {SECONDS} s: {outcome.calls.total()} calls, {kept} texts remembered, none lost, "
        f"{outcome.quoted} rows quoted, none of another; {middle:.2f} s a call in the middle, {late:.2f} s at 95 %"
    )
