"""A mock model server that returns fixed answers and records the time of each call, to test rate limits."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PLAN = {
    "query_type": "IQA",
    "query_scope": "Global",
    "distortion_source": "Inferred",
    "distortions": None,
    "reference_mode": "No-Reference",
    "required_tool": None,
    "plan": {
        "distortion_detection": False,
        "distortion_analysis": True,
        "tool_selection": True,
        "tool_execution": True,
    },
}
BLUR = {"type": "Blurs", "severity": "slight", "explanation": "Edges are soft."}
ANSWERS = [
    (b"You are a planner", PLAN),
    (b"You are an expert", {"distortion_set": {"Global": ["Blurs"]}}),
    (b"You are a distortion", {"distortion_analysis": {"Global": [BLUR]}}),
    (b"You are a tool", {"selected_tools": {"Global": {"Blurs": "BRISQUE"}}}),
    (b"You are a visual", {"final_answer": "B", "quality_reasoning": "It is sharp."}),
]


class Model:
    """The calls that the server received."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[float] = []
        self.lock = threading.Lock()

    def busiest(self, seconds: float) -> int:
        """Returns the maximum number of calls in any interval of that length."""
        times = sorted(self.asked)
        return max((sum(start <= moment < start + seconds for moment in times) for start in times), default=0)


@contextmanager
def serve(status: int = 200, delay: float = 0.0) -> Iterator[Model]:
    """Starts a local server. A status other than 200 simulates a failing model."""
    model = Model()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            with model.lock:
                model.asked.append(time.monotonic())
            body = self.rfile.read(int(self.headers["content-length"]))
            time.sleep(delay)
            text = next((answer for begin, answer in ANSWERS if begin in body), ANSWERS[-1][1])
            message = {"role": "assistant", "content": json.dumps(text)}
            reply = {
                "id": "x",
                "object": "chat.completion",
                "model": "same",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
            }
            encoded = json.dumps(reply if status == 200 else {"error": {"message": "out of order"}}).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(encoded)))
            self.end_headers()
            self.wfile.write(encoded)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1/"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    with serve() as model:
        print(model.url, flush=True)
        threading.Event().wait()
