"""Runs the program under mixed load while things fail, and audits that nothing was lost. See scripts/chaos.

Load: clients that ask the server with and without a model, jobs over a folder, and a batch in a loop of its own.
Faults: the server and the batch are killed (SIGKILL) at random moments, the disk of the batch fills up (a limit on the
size of its files), clients send half a request and stop, and the model fails in every way it can: errors, refusals,
half answers, endless bodies, silence.

The audit at the end, on a server that was started once more without faults:
- every assessment that was answered with 200 is still there, with the same answer;
- every job that was accepted is done, with exactly one record for each sample;
- every batch has exactly one record for each sample of its input.
"""

import argparse
import contextlib
import http.client
import json
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from slow_model import ANSWERS

PICTURES = 6
SAMPLES = 24
SLOW_CLIENTS = 20


def bitmap(seed: int, side: int = 64) -> bytes:
    """Returns an image with some texture."""
    dice = random.Random(seed)
    pixels = bytearray()
    for y in range(side):
        for x in range(side):
            value = (x * y * (seed + 1) // 8 + dice.randrange(24)) % 256
            pixels += bytes([value, (value + x) % 256, y * 3 % 256])
    head = b"BM" + (54 + len(pixels)).to_bytes(4, "little") + bytes(4) + (54).to_bytes(4, "little")
    head += (40).to_bytes(4, "little") + side.to_bytes(4, "little") * 2 + (1).to_bytes(2, "little")
    return head + (24).to_bytes(2, "little") + bytes(24) + bytes(pixels)


class Failing(BaseHTTPRequestHandler):
    """A model that answers half of its calls, and fails in another way each other time."""

    protocol_version = "HTTP/1.1"
    calm = False

    def log_message(self, *_args: object) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        fault = 0 if self.calm else random.randrange(16)
        with contextlib.suppress(OSError):
            self.fail(fault, body) if 0 < fault < 9 else self.answer(body)

    def reply(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer(self, body: bytes, text: str | None = None) -> None:
        found = next((answer for begin, answer in ANSWERS if begin in body), ANSWERS[-1][1])
        message = {"role": "assistant", "content": text or json.dumps(found)}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        self.reply(200, json.dumps({"id": "x", "model": "failing", "choices": [choice], "usage": usage}).encode())

    def fail(self, fault: int, body: bytes) -> None:
        if fault == 1:
            self.reply(500, b'{"error": {"message": "overloaded"}}')
        elif fault == 2:
            self.reply(429, b'{"error": {"message": "too many"}}')
        elif fault == 3:
            self.reply(200, b"<html>login</html>", "text/html")
        elif fault == 4:
            self.reply(200, b'{"choices": [')
        elif fault == 5:
            self.answer(body, "not the JSON that was asked for \x1b[2J " + self.headers.get("authorization", ""))
        elif fault == 6:
            self.connection.shutdown(socket.SHUT_RDWR)
        elif fault == 7:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            for _ in range(200):
                self.wfile.write(b'"' + b"x" * 65536)
            self.close_connection = True
        else:
            time.sleep(4)
            self.answer(body)


class Model(ThreadingHTTPServer):
    def handle_error(self, *_args: object) -> None:
        """Says nothing about clients that were killed."""


class Chaos:
    def __init__(self, program: Path, folder: Path, seconds: float, seed: int) -> None:
        self.program, self.folder, self.seconds = program, folder, seconds
        self.dice = random.Random(seed)
        self.deadline = time.monotonic() + seconds
        self.lock = threading.Lock()
        self.address: tuple[str, int] | None = None
        self.server: subprocess.Popen[bytes] | None = None
        self.model = Model(("127.0.0.1", 0), Failing)
        threading.Thread(target=self.model.serve_forever, daemon=True).start()
        # What was accepted: the answers of assessments by ID, and jobs with their number of samples.
        self.answers: dict[str, str] = {}
        self.jobs: dict[str, int] = {}
        self.batches: list[Path] = []
        self.counts = dict.fromkeys(
            ("requests", "refused", "repeated", "killed servers", "killed batches", "full disks", "slow clients"), 0
        )
        self.problems: list[str] = []
        self.pictures = folder / "pictures"
        self.pictures.mkdir()
        for number in range(PICTURES):
            (self.pictures / f"{number}.bmp").write_bytes(bitmap(number))

    def count(self, name: str) -> None:
        with self.lock:
            self.counts[name] += 1

    def problem(self, text: str) -> None:
        with self.lock:
            self.problems.append(text)
        print(f"problem: {text}", file=sys.stderr, flush=True)

    def running(self) -> bool:
        return time.monotonic() < self.deadline

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AGENTICIQA_", "OPENAI_"))}
        return kept | {
            "OPENAI_API_KEY": "sk-chaos-secret",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{self.model.server_port}/v1",
            "XDG_CONFIG_HOME": str(self.folder / "none"),
        }

    def start(self) -> None:
        """Starts the server, and waits until it listens."""
        config = self.folder / "pipeline.yaml"
        config.write_text("server:\n  backends: [openai.chaos]\n  timeout_seconds: 60\n  read_timeout_seconds: 5\n")
        log = self.folder / "server.log"
        with log.open("ab") as out:
            start = out.tell()
            self.server = subprocess.Popen(
                [
                    self.program,
                    "--config",
                    config,
                    "--threads",
                    "2",
                    "serve",
                    "--port",
                    "0",
                    "--data",
                    self.folder / "data",
                    "--allow-root",
                    self.pictures,
                    "--log-level",
                    "warn",
                ],
                stderr=out,
                env=self.environment(),
                cwd=self.folder,
            )
        until = time.monotonic() + 120
        while time.monotonic() < until and self.server.poll() is None:
            text = log.read_text(errors="replace")[start:]
            if found := re.search(r"listening on http://([^:\s]+):(\d+)\s", text):
                self.address = (found[1], int(found[2]))
                return
            time.sleep(0.05)
        raise SystemExit(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")

    def kill(self) -> None:
        if self.server:
            if self.server.poll() is not None:
                self.problem(f"the server ended by itself with {self.server.returncode}")
            self.address = None
            self.server.kill()
            self.server.wait()

    def ask(self, method: str, path: str, body: object = None, timeout: float = 90) -> tuple[int, bytes] | None:
        """Sends a request. None means that the connection broke: it was not accepted."""
        address = self.address
        if address is None:
            time.sleep(0.05)
            return None
        try:
            connection = http.client.HTTPConnection(*address, timeout=timeout)
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {"content-type": "application/json"} if data else {})
            response = connection.getresponse()
            answer = response.status, response.read()
            connection.close()
            return answer
        except (OSError, http.client.HTTPException):
            time.sleep(0.05)
            return None

    def until_answered(self, method: str, path: str, body: object = None) -> tuple[int, bytes] | None:
        """Repeats a request until it is answered, as clients do, or until the run is over."""
        while self.running():
            answer = self.ask(method, path, body)
            if answer is not None and answer[0] != 429:
                return answer
            self.count("repeated" if answer is None else "refused")
            time.sleep(0.1)
        return None

    def assessing(self, seed: int) -> None:
        """A client that asks one question after the other."""
        dice = random.Random(seed)
        while self.running():
            body = {
                "query": dice.choice(["Rate it.", "Is it sharp?", "清晰吗"]),
                "image_path": f"{dice.randrange(PICTURES)}.bmp",
                "max_replan_iterations": 0,
            }
            if dice.random() < 0.4:
                body["backend"] = "openai.chaos"
            answer = self.until_answered("POST", "/assess", body)
            if answer is None:
                return
            self.count("requests")
            status, text = answer
            if status == 200:
                found = json.loads(text)
                with self.lock:
                    self.answers[found["id"]] = json.dumps(found["final_answer"])
            elif status not in (503, 504):
                self.problem(f"POST /assess: {status} {text[:300]!r}")
            if b"sk-chaos-secret" in text:
                self.problem("an answer has the key")

    def creating_jobs(self) -> None:
        while self.running():
            answer = self.until_answered("POST", "/jobs", {"folder": ".", "query": "Is it noisy?"})
            if answer is None:
                return
            if answer[0] == 202:
                job = json.loads(answer[1])
                with self.lock:
                    self.jobs[job["id"]] = job["total"]
            else:
                self.problem(f"POST /jobs: {answer[0]} {answer[1][:300]!r}")
            time.sleep(self.dice.uniform(1, 4))

    def batch_input(self, number: int) -> Path:
        folder = self.folder / f"batch-{number}"
        folder.mkdir()
        lines = [
            {
                "sample_id": f"s{index}",
                "query": "Rate it.",
                "image_path": str(self.pictures / f"{index % PICTURES}.bmp"),
            }
            for index in range(SAMPLES)
        ]
        (folder / "input.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return folder

    def batch(self, folder: Path, limit: int | None = None) -> subprocess.Popen[bytes]:
        def full_disk() -> None:
            if limit is not None:
                # Writing fails with an error, as on a full disk, and does not end the program.
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return subprocess.Popen(
            [
                self.program,
                "--threads",
                "1",
                "batch",
                "--input",
                "input.jsonl",
                "--output",
                "records.jsonl",
                "--resume",
            ],
            cwd=folder,
            env=self.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=full_disk,
        )

    def batching(self) -> None:
        """Batches that are killed or run into a full disk until they are complete."""
        dice, number = random.Random(self.dice.random()), 0
        while self.running():
            folder, number = self.batch_input(number), number + 1
            with self.lock:
                self.batches.append(folder)
            for _ in range(4):
                if not self.running():
                    return
                full = dice.random() < 0.4
                process = self.batch(folder, dice.randrange(20_000, 200_000) if full else None)
                try:
                    _, text = process.communicate(timeout=60 if full else dice.uniform(0.2, 4))
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.communicate()
                    self.count("killed batches")
                    continue
                if process.returncode == 0:
                    break
                message = text.decode(errors="replace")
                if full and process.returncode == 1 and "make room" in message:
                    self.count("full disks")
                else:
                    self.problem(f"a batch ended with {process.returncode}: {message[-300:]}")

    def stalling(self) -> None:
        """Clients that send half a request and wait."""
        held: list[socket.socket] = []
        while self.running():
            address = self.address
            if address:
                with contextlib.suppress(OSError):
                    client = socket.create_connection(address, timeout=5)
                    client.sendall(
                        b"POST /assess HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{"
                    )
                    held.append(client)
                    self.count("slow clients")
            while len(held) > SLOW_CLIENTS:
                held.pop(0).close()
            time.sleep(0.2)

    def killing(self) -> None:
        every = max(6.0, min(20.0, self.seconds / 4))
        while self.running():
            time.sleep(min(self.dice.uniform(every / 2, every), max(0.0, self.deadline - time.monotonic())))
            if self.running():
                self.kill()
                self.count("killed servers")
                self.start()

    def run(self) -> None:
        self.start()
        work = [self.killing, self.creating_jobs, self.batching, self.stalling]
        threads = [threading.Thread(target=one) for one in work]
        threads += [threading.Thread(target=self.assessing, args=(seed,)) for seed in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def audit(self) -> bool:
        """Starts everything once more without faults, and counts what is there."""
        Failing.calm = True
        self.kill()
        self.start()
        until = time.monotonic() + max(300, self.seconds)
        lost = 0
        for key, expected in self.answers.items():
            found = self.ask("GET", f"/assessments/{key}")
            if found is None or found[0] != 200 or json.dumps(json.loads(found[1])["final_answer"]) != expected:
                lost += 1
                self.problem(f"assessment {key} is lost: {found and found[0]}")
        samples = 0
        for job, total in self.jobs.items():
            state = "lost"
            while time.monotonic() < until:
                found = self.ask("GET", f"/jobs/{job}")
                state = json.loads(found[1]).get("state", "lost") if found and found[0] == 200 else "lost"
                if state not in ("queued", "running", "interrupted"):
                    break
                time.sleep(0.2)
            export = self.ask("GET", f"/jobs/{job}/export?format=jsonl")
            names = (
                [json.loads(line)["sample_id"] for line in (export or (0, b""))[1].splitlines()]
                if state == "done"
                else []
            )
            samples += total
            missing = total - len(set(names))
            lost += missing
            if missing or len(names) != total:
                self.problem(f"job {job}: {state}, {len(names)} records for {total} samples")
        for folder in self.batches:
            process = self.batch(folder)
            _, text = process.communicate()
            names = [json.loads(line)["sample_id"] for line in (folder / "records.jsonl").read_text().splitlines()]
            samples += SAMPLES
            lost += SAMPLES - len(set(names))
            if process.returncode != 0 or len(names) != SAMPLES or len(set(names)) != SAMPLES:
                self.problem(f"{folder.name}: exit {process.returncode}, {len(names)} records: {text.decode()[-300:]}")
        for path in [self.folder / "server.log", *self.folder.glob("batch-*/records.jsonl")]:
            text = path.read_text(errors="replace")
            if "panicked" in text:
                self.problem(f"{path.name} tells of a panic")
            if "sk-chaos-secret" in text:
                self.problem(f"{path.name} has the key")
        self.kill()
        print(", ".join(f"{count} {name}" for name, count in self.counts.items()))
        accepted = len(self.answers) + samples
        print(
            f"{len(self.answers)} assessments, {len(self.jobs)} jobs and {len(self.batches)} batches with {samples} samples"
        )
        print(f"{accepted} accepted, {accepted - lost} answered, {lost} lost")
        return not self.problems and lost == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=Path("target/release/agenticiqa"))
    parser.add_argument("--seconds", type=float, default=600, help="how long faults happen [default: 600]")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="agenticiqa-chaos-") as folder:
        chaos = Chaos(arguments.program.resolve(), Path(folder), arguments.seconds, arguments.seed)
        try:
            chaos.run()
            good = chaos.audit()
        finally:
            if chaos.server:
                chaos.server.kill()
        if not good:
            print((Path(folder) / "server.log").read_text(errors="replace")[-3000:], file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
