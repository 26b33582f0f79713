#!/usr/bin/env python3
"""A mock server with the OpenAI protocol that answers every call after a fixed delay.

    scripts/slow_model.py [--delay 0.2] [--port 8177]

Use it to measure how well a batch keeps a model busy. Answers are fixed and depend only on the start of the system
prompt. On Ctrl-C it prints the number of calls and of concurrent calls.
"""

import argparse
import asyncio
import contextlib
import json
import time

PLAN = {
    "query_type": "IQA",
    "query_scope": "Global",
    "distortion_source": "Inferred",
    "distortions": None,
    "reference_mode": "No-Reference",
    "required_tool": None,
    "plan": {"distortion_detection": True, "distortion_analysis": True, "tool_selection": True, "tool_execution": True},
}
ANSWERS = [
    (b"You are a planner", PLAN),
    (b"You are an expert", {"distortion_set": {"Global": ["Blurs"]}}),
    (
        b"You are a distortion",
        {
            "distortion_analysis": {
                "Global": [{"type": "Blurs", "severity": "slight", "explanation": "Edges are soft."}]
            }
        },
    ),
    (b"You are a tool", {"selected_tools": {"Global": {"Blurs": "BRISQUE"}}}),
    (b"You are a visual", {"final_answer": "B", "quality_reasoning": "It is sharp."}),
]


class Server:
    def __init__(self, delay):
        self.delay, self.calls, self.running, self.most = delay, 0, 0, 0
        self.first = self.last = self.busy = 0.0

    async def serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length:")
                )
                body = await reader.readexactly(length)
                self.running += 1
                self.most = max(self.most, self.running)
                start = time.monotonic()
                self.first = self.first or start
                await asyncio.sleep(self.delay)
                text = next((answer for begin, answer in ANSWERS if begin in body), ANSWERS[-1][1])
                reply = json.dumps(
                    {
                        "id": "x",
                        "object": "chat.completion",
                        "model": "slow",
                        "choices": [
                            {
                                "index": 0,
                                "finish_reason": "stop",
                                "message": {"role": "assistant", "content": json.dumps(text)},
                            }
                        ],
                        "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
                    }
                ).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(reply)
                )
                writer.write(reply)
                await writer.drain()
                self.running -= 1
                self.calls += 1
                self.last = time.monotonic()
                self.busy += self.last - start
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=float, default=0.2, help="seconds per call (%(default)s)")
    parser.add_argument("--port", type=int, default=8177, help="port on 127.0.0.1 (%(default)s)")
    arguments = parser.parse_args()
    server = Server(arguments.delay)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", arguments.port, limit=1 << 26)
    print(f"listening on http://127.0.0.1:{arguments.port}", flush=True)
    try:
        await listener.serve_forever()
    finally:
        span = max(server.last - server.first, 1e-9)
        print(
            f"{server.calls} calls in {span:.2f} s, {server.calls / span:.1f} per second, "
            f"at most {server.most} concurrent, {server.busy / span:.2f} on average"
        )


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
