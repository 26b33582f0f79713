"""Runs the steps of action.yml without GitHub and checks what they do. Started by scripts/try-action."""

import functools
import hashlib
import http.server
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
TARGETS = {
    ("Linux", "x86_64"): "x86_64-unknown-linux-gnu",
    ("Linux", "aarch64"): "aarch64-unknown-linux-gnu",
    ("Darwin", "arm64"): "aarch64-apple-darwin",
    ("Darwin", "x86_64"): "x86_64-apple-darwin",
}
# What the scripts must get from action.yml and not from here, and what would change the program's
# settings.
FOREIGN = re.compile(r"GITHUB_|RUNNER_|INPUT_|AGENTICIQA|RELEASES_URL|VERSION$")


class Run:
    """The result of the action: exit code, outputs, job summary and log."""

    def __init__(self, inputs, temp, extra):
        unknown = set(inputs) - set(ACTION["inputs"])
        assert not unknown, f"action.yml has no inputs {unknown}"
        self.inputs = {
            name: str(inputs.get(name, entry.get("default", ""))) for name, entry in ACTION["inputs"].items()
        }
        self.steps, self.log, self.code = {}, "", 0
        summary = pathlib.Path(tempfile.mkstemp(dir=temp)[1])
        base = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
        for step in ACTION["runs"]["steps"]:
            assert set(step) <= {"id", "shell", "run", "env"}, f"a step has keys that this script does not know: {step}"
            output = pathlib.Path(tempfile.mkstemp(dir=temp)[1])
            environment = base | {name: self.expand(value) for name, value in step["env"].items()}
            environment |= {
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(summary),
                "RUNNER_TEMP": str(temp),
            } | extra
            command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", self.expand(step["run"])]
            done = subprocess.run(
                command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            self.log += done.stdout
            self.steps[step["id"]] = dict(line.split("=", 1) for line in output.read_text().splitlines())
            self.code = done.returncode
            if self.code:
                break
        self.outputs = {name: self.expand(entry["value"]) for name, entry in ACTION["outputs"].items()}
        self.summary = summary.read_text()

    def expand(self, text):
        """Replaces the expressions that action.yml uses; any other is an error."""
        github = {"action_path": str(ROOT), "action_repository": "agenticiqa/agenticiqa"}

        def value(match):
            path = match[1].split(".")
            if path[0] == "inputs" and len(path) == 2:
                return self.inputs[path[1]]
            if path[0] == "github" and len(path) == 2:
                return github[path[1]]
            if path[0] == "steps" and path[2] == "outputs" and len(path) == 4:
                return self.steps.get(path[1], {}).get(path[3], "")
            raise AssertionError(f"unknown expression {match[0]}")

        return re.sub(r"\$\{\{\s*(.*?)\s*\}\}", value, text)


def check(name, condition, run):
    print(("ok      " if condition else "FAILED  ") + name)
    if not condition:
        print(f"exit code {run.code}, outputs {run.outputs}\n--- log\n{run.log}\n--- summary\n{run.summary}")
        sys.exit(1)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def main(program, temp):
    version = "v" + re.search(r'^\[workspace\.package\]\nversion = "(.*?)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]
    target = TARGETS[platform.system(), platform.machine()]

    # A release as release.yml makes it, served from this machine.
    release = temp / "releases" / version
    subprocess.run([ROOT / ".github/release/archive.sh", version, target, program, release], check=True)
    archive = release / f"agenticiqa-{version}-{target}.tar.gz"
    sums = release / "SHA256SUMS"
    sums.write_text(f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {archive.name}\n")
    handler = functools.partial(Quiet, directory=temp / "releases")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    releases = {"RELEASES_URL": f"http://127.0.0.1:{server.server_port}", "no_proxy": "127.0.0.1"}

    def action(inputs, **extra):
        return Run(inputs, temp, releases | extra)

    images = "examples/*.jpg"
    run = passed = action({"images": images, "fail-under": 2, "junit": temp / "gate.xml"})
    records = [json.loads(line) for line in pathlib.Path(run.outputs["records"]).read_text().splitlines()]
    check("a low limit passes", run.code == 0 and run.outputs["exit-code"] == "0", run)
    check("the records have every image", len(records) == 3, run)
    check(
        "the summary reports it", "Image quality: passed" in run.summary and "examples/osprey.jpg" in run.summary, run
    )
    check("JUnit is written", "<testsuites" in (temp / "gate.xml").read_text(), run)

    run = action({"images": images, "fail-under": 4.9})
    check("a high limit fails with 3", run.code == 3 and run.outputs["exit-code"] == "3", run)
    check("its summary reports it", "Image quality: failed" in run.summary and "4.90" in run.summary, run)

    run = action({"images": images, "baseline": passed.outputs["records"], "max-drop": 0.1})
    check("the same scores as before pass", run.code == 0, run)
    better = temp / "better.jsonl"
    for record in records:
        record["summarizer_result"]["quality_score"] = 5.0
    better.write_text("".join(json.dumps(record) + "\n" for record in records))
    run = action({"images": images, "baseline": better, "max-drop": 0.1})
    check("lower scores than before fail with 3", run.code == 3, run)

    question = "Is it blurry?"
    run = action(
        {
            "images": "osprey.jpg\nosprey-blurred.jpg\n",
            "working-directory": "examples",
            "args": f'--query "{question}" --quiet',
        }
    )
    records = [json.loads(line) for line in pathlib.Path(run.outputs["records"]).read_text().splitlines()]
    check(
        "several patterns, a folder and quoted arguments",
        run.code == 0 and [r["query"] for r in records] == [question] * 2,
        run,
    )
    check("names start in the folder", {r["sample_id"] for r in records} == {"osprey.jpg", "osprey-blurred.jpg"}, run)

    run = action({"images": "$(touch hacked)*.jpg", "args": "--query '$(touch hacked)'"}, WORKING_DIRECTORY=str(temp))
    check("inputs are not run, and no images fail with 2", run.code == 2 and not (temp / "hacked").exists(), run)
    run = action({"images": images, "args": "--query 'unfinished"})
    check("an unfinished quote fails with 2", run.code == 2 and "quote" in run.log, run)

    broken = temp / "broken"
    broken.mkdir()
    (broken / "a|b`c`_d_.jpg").write_bytes(b"not an image")
    shutil.copy(ROOT / "examples/osprey.jpg", broken)
    run = action({"images": f"{broken}/*.jpg"})
    check("an image that cannot be read fails with 1", run.code == 1 and run.outputs["exit-code"] == "1", run)
    check("the summary lists it as text", "a&#124;b&#96;c&#96;&#95;d&#95;.jpg | - |" in run.summary, run)

    # A cargo that only writes down its arguments and "builds" the program.
    tools = temp / "tools"
    tools.mkdir()
    (tools / "rustup").write_text("#!/bin/sh\n")
    (tools / "cargo").write_text(
        f'#!/bin/sh\necho "cargo $*"\nwhile [ $# -gt 1 ]; do shift; done\nmkdir -p "$1/bin" && cp "{program}" "$1/bin/agenticiqa"\n'
    )
    for tool in tools.iterdir():
        tool.chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    build = f"cargo install --locked --path {ROOT}/crates/cli"
    run = action({"images": images, "version": "source"}, PATH=path)
    check("version: source builds the checkout", run.code == 0 and build in run.log, run)
    run = action({"images": images, "version": version[1:]}, PATH=path)
    check("a version is found without its v", run.code == 0 and "cargo" not in run.log, run)
    run = action({"images": images, "version": "v99.0.0"}, PATH=path)
    check("another version without a release fails", run.code == 1 and "no archive of v99.0.0" in run.log, run)
    sums.write_text(f"{'0' * 64}  {archive.name}\n")
    run = action({"images": images}, PATH=path)
    check("a wrong checksum fails", run.code == 1 and "checksum" in run.log and "cargo" not in run.log, run)
    shutil.rmtree(release)
    run = action({"images": images}, PATH=path)
    check("without a release the checkout is built", run.code == 0 and build in run.log, run)


with tempfile.TemporaryDirectory() as folder:
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
