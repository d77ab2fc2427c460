"""The README's commands on the shipped data run as they stand there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
ENTRIES = {"assay": "workbench.cli", "mem": "core.cli"}


def commands() -> list[str]:
    """Lines of the shell blocks that need nothing but the shipped data, without their comments."""
    blocks = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    lines = [line.split("   #")[0].strip() for block in blocks for line in block.splitlines()]
    own = [
        line
        for line in lines
        if line.split(" ")[0] in {*ENTRIES, "echo"} and not re.search(r"ASSAY_DATA|notes/|path/to", line)
    ]
    return [line for line in own if "scifact" not in line and "clapnq" not in line and "locomo" not in line]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory):
    """Runs one line in a folder that holds `datasets`, with `assay` and `mem` on the path."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "datasets").symlink_to(ROOT / "datasets")
    programs = folder / "bin"
    programs.mkdir()
    for name, module in ENTRIES.items():
        script = programs / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from {module} import main; main()" "$@"\n')
        script.chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ASSAY_")}
    environment |= {"PATH": f"{programs}:{environment['PATH']}", "PYTHONPATH": str(ROOT)}

    def run(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


def test_there_are_commands_to_run():
    assert len(commands()) >= 8
    assert {line.split(" ")[1] for line in commands()} >= {"ingest", "ask", "query", "eval", "profiles"}


def test_every_command_on_the_shipped_data_runs(shell):
    for line in commands():
        done = shell(line)
        assert (done.returncode, done.stderr) == (0, ""), line
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", README, re.DOTALL)):
        done = shell(f"cat > block-{number}.py <<'END'\n{block}END\n{sys.executable} block-{number}.py")
        assert (done.returncode, done.stderr) == (0, ""), block
    answer = shell("mem query --project meridian --format json 'why did requests over 10KB fail?'")
    assert json.loads(answer.stdout)["hits"][0]["name"] == "infra-root-causes"


def test_native_examples_are_taken_whole(shell, tmp_path):
    rows = re.findall(r"```json\n(.*?)```", README, re.DOTALL)[0]
    (tmp_path / "example.jsonl").write_text(rows)
    done = shell(f"assay ingest {tmp_path}/example.jsonl --dataset example --strict --no-embed")
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 case" in done.stdout
