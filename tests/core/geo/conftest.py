import pytest

from core.geo.gazetteer import Gazetteer


@pytest.fixture(scope="session")
def gazetteer() -> Gazetteer:
    return Gazetteer()
