#!/usr/bin/env python3
"""Serves a GGUF model with the OpenAI protocol.

    serve.py MODEL PORT PROJECTOR

PORT 0 selects a free port. Prints "LISTENING http://127.0.0.1:PORT" when it is ready. Exits when its standard input is a
pipe that closes, or when its parent process ends, so that killed tests leave no server behind. TINY_VLM_THREADS sets the
number of threads (default 1, which is fastest while tests use all cores).
"""

from __future__ import annotations

import os
import socket
import stat
import sys
import threading
import time

import xllamacpp


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def end_with_parent(parent: int) -> None:
    """Ends this process when its input pipe closes or its parent process changes."""

    def watch_pipe() -> None:
        while os.read(0, 4096):
            pass
        os._exit(0)

    def watch_parent() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(0)

    watchers = [watch_parent]
    if stat.S_ISFIFO(os.fstat(0).st_mode) or stat.S_ISSOCK(os.fstat(0).st_mode):
        watchers.append(watch_pipe)
    for watcher in watchers:
        threading.Thread(target=watcher, daemon=True).start()


def main() -> None:
    model, port, projector = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    end_with_parent(os.getppid())
    threads = int(os.environ.get("TINY_VLM_THREADS", "1"))
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.mmproj.path = projector
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port or free_port()
    parameters.n_ctx = 8192
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.model_alias = {"tiny-vlm"}
    parameters.use_jinja = True
    server = xllamacpp.Server(parameters)
    print("LISTENING", server.listening_address, flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main()
