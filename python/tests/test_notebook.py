"""The notebook runs from top to bottom and shows images."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def notebook():
    return nbformat.read(EXAMPLES / "quickstart.ipynb", as_version=4)


def test_the_notebook_is_kept_without_outputs(notebook):
    assert all(not cell.outputs and cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")


def test_no_cell_fails(notebook):
    # A failing cell raises an exception with its output.
    ran = NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLES)}}
    ).execute()
    outputs = [output for cell in ran.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 2
