"""Starts commands of the project without waiting for Python and its libraries to load: a third of the time of a short one.

A process of its own loads what every command needs of others' libraries, none of the project's, and forks for each
command. The command finds the folder, environment, arguments and open files of a program started by a shell, and ends as
one. What concerns the start of Python itself (PYTHONUTF8, a closed stdin, ...) is tested with the installed program.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

LOADED = (
    "numpy",
    "scipy.stats",
    "psycopg.types.json",
    "psycopg.types.string",
    "pgvector.psycopg",
    "typer.main",
    "regex",
    "pyromark",
    "rapidfuzz",
    "asyncio",
    "jinja2",
    "concurrent.futures",
)


def run(
    arguments: Sequence[str | bytes | Path], stdin: bytes, folder: Path, environment: Mapping[str, str]
) -> tuple[int, bytes, bytes]:
    """Run ``tracestore`` with arguments; return its exit code, as subprocess gives it, and what it wrote."""
    request = {
        "arguments": [os.fsdecode(argument) for argument in arguments],
        "folder": str(folder),
        "environment": dict(environment),
    }
    with ExitStack() as stack:
        files = [stack.enter_context(TemporaryFile()) for _ in range(4)]
        for file, content in zip(files, (json.dumps(request).encode(), stdin), strict=False):
            file.write(content)
            file.seek(0)
        answered, answers = os.pipe()
        with os.fdopen(answered, "rb") as answer:
            try:
                socket.send_fds(_launcher(), [b"."], [*(file.fileno() for file in files), answers])
            finally:
                os.close(answers)
            code = int(answer.read())
        for file in files[2:]:
            file.seek(0)
        return code, files[2].read(), files[3].read()


@cache
def _launcher() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        launcher = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def end() -> None:
        # It ends when its socket has no other end.
        ours.close()
        launcher.wait()

    atexit.register(end)
    return ours


def _serve(requests: socket.socket) -> None:
    """Fork for each request; return in the process of a command, and at the end of the one who asks not at all."""
    running: dict[int, tuple[int, int]] = {}
    while True:
        for ready in select.select([requests, *running], [], [])[0]:
            if ready is not requests:
                process, answers = running.pop(ready)
                os.write(answers, str(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])).encode())
                os.close(answers)
                os.close(ready)
                continue
            data, files, _, _ = socket.recv_fds(requests, 1, 5)
            if not data:
                os._exit(0)
            process = os.fork()
            if process == 0:
                return _start(*files)
            for file in files[:4]:
                os.close(file)
            running[os.pidfd_open(process)] = process, files[4]


def _start(asked: int, stdin: int, stdout: int, stderr: int, _answers: int) -> None:
    request = json.loads(os.pread(asked, os.fstat(asked).st_size, 0))
    for number, file in enumerate((stdin, stdout, stderr)):
        os.dup2(file, number)
    os.closerange(3, 4096)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[1:] = request["arguments"]


if __name__ == "__main__":
    # As for an installed program, whose folder has none of the modules of the tests.
    sys.path.pop(0)
    for _module in LOADED:
        __import__(_module)
    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    sys.argv[0] = str(Path(sys.executable).with_name("tracestore"))
    from tracestore.cli.app import main

    sys.exit(main())
