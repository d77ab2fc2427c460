"""The corpus of each arm: the dataset as it is, or its texts cut anew into a store of the sweep's own; embedded once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Self

from core.errors import UsageError
from core.ingest.chunk import rechunked
from core.ingest.embed import embed_missing
from core.ingest.ingestor import ingest
from core.ingest.items import ArtifactItem, CaseItem, Item, NodeItem, Problem
from core.models.base import Embedder
from core.models.registry import embedder as embedder_named
from core.progress import bar
from core.records import Node
from core.store import Store
from core.workspace import Workspace
from evals.sweep.arms import Arm

TFIDF = "tfidf"
STORE = "chunks.db"


class Corpora:
    """Opens a workspace for each arm; workspaces and models are kept, so that what arms share is done once."""

    def __init__(
        self, db: Path | str | None, out: Path, dataset: str, user: str, embedder: str | None
    ) -> None:
        self._db, self._out, self._dataset, self._user = db, out, dataset, user
        self._embedder = embedder
        self._models: dict[str, Embedder] = {}
        self._open: dict[tuple[str, bool], Workspace] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for workspace in self._open.values():
            workspace.close()

    def of(self, arm: Arm) -> tuple[Workspace, str]:
        """The workspace and the name of the dataset in it, embedded whole.

        Raises:
            UsageError: no such dataset or embedder, or chunks are varied and there is no text to cut.
        """
        own = arm.chunking is not None
        dataset = self._dataset
        if arm.chunking is not None:
            dataset = f"{self._dataset}/{arm.chunking[0]}+{arm.chunking[1]}"
            self._cut(dataset, arm.chunking)
        model = self._model(arm.embedder or self._embedder, dataset, own)
        workspace = self._workspace(model, own)
        ids = [workspace.store.dataset(dataset, self._user).dataset_id]
        with bar("embedding", total=workspace.store.text_count(ids), unit="texts") as progress:
            embed_missing(workspace.store, model, ids, progress=progress)
        return workspace, dataset

    def _path(self, own: bool) -> Path | str | None:
        return self._out / STORE if own else self._db

    def _workspace(self, model: Embedder, own: bool) -> Workspace:
        key = (model.model_id, own)
        if key not in self._open:
            self._open[key] = Workspace.open(self._path(own), embedder=model, create=False)
        return self._open[key]

    def _model(self, name: str | None, dataset: str, own: bool) -> Embedder:
        key = name or ""
        if name == TFIDF:  # it belongs to the texts it is fitted on
            key = f"{TFIDF} {dataset}"
        if key not in self._models:
            self._models[key] = self._fitted(dataset, own) if name == TFIDF else embedder_named(name)
        return self._models[key]

    def _fitted(self, dataset: str, own: bool) -> Embedder:
        from core.models.tfidf_embedder import TfidfEmbedder
        from core.store import default_path

        with Store.open(self._path(own) or default_path(), create=False) as store:
            ids = [store.dataset(dataset, self._user).dataset_id]
            rows = [int(row) for row in store.columns("node", ids).row_ids]
            texts = [node.text for node in store.nodes(rows)]
        try:
            return TfidfEmbedder(texts)
        except ValueError as error:
            raise UsageError(f"dataset {dataset!r}: {error}") from error

    def _cut(self, dataset: str, chunking: tuple[int, int]) -> None:
        """The dataset again, its texts cut so. A second time changes nothing."""
        from core.store import default_path

        with (
            Store.open(self._db or default_path(), create=False) as source,
            Store.open(self._out / STORE) as target,
        ):
            ids = [source.dataset(self._dataset, self._user).dataset_id]
            items = [(f"sweep:{place}", item) for place, item in enumerate(_items(source, ids))]
            if not any(isinstance(item, ArtifactItem) for _, item in items):
                raise UsageError(
                    f"dataset {self._dataset!r} holds no text that could be cut; leave chunk and overlap out"
                )
            report = ingest(target, dataset, rechunked(items, *chunking), user_id=self._user)
            if report.problems:
                raise UsageError(f"dataset {self._dataset!r} cannot be cut anew: {report.problems[0]}")


def _items(store: Store, ids: list[int]) -> Iterator[Item | Problem]:
    artifacts = store.artifacts(ids)
    cut = {artifact.source for artifact in artifacts}
    for artifact in artifacts:
        yield ArtifactItem(
            source=artifact.source, text=artifact.text, title=artifact.title, session=artifact.session,
            valid_at=artifact.valid_at,
        )  # fmt: skip
    for node in store.nodes([int(row) for row in store.columns("node", ids).row_ids]):
        if node.source not in cut:
            yield _item(node)
    for _, case in store.cases(ids):
        yield CaseItem(case_id=case.case_id, body=case.body)


def _item(node: Node) -> NodeItem:
    shared = {field.name for field in fields(Node)} & {field.name for field in fields(NodeItem)}
    return NodeItem(**{name: getattr(node, name) for name in shared})
