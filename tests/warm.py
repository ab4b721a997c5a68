"""A process that has imported everything and forks: a job in a process of its own, without imports.

Readers that are attacked and writers that are killed need processes of their own, but a cold one
spends a second on imports. `Warm` starts one that reads jobs, lines of JSON, from its input: a
module, whose ``main(*arguments)`` is called in a fork, and where its two streams go.
"""

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What readers import when they are first used, which a fork would pay for anew.
HEAVY = (
    "h5py",
    "onnxruntime",
    "openpyxl",
    "pandas",
    "PIL.Image",
    "pyarrow.parquet",
    "scipy.io",
    "sklearn.pipeline",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "zarr",
    "zslearn.datasets",
    "zslearn.encoders.store",
    "zslearn.encoders.text_encoder",
    "zslearn.metrics",
    "zslearn.persistence",
    "zslearn.reproduce.results",
    "zslearn.scale",
    "zslearn.zero_shot.recognizer",
)


class Warm:
    """The process, as those see it that give it jobs; one at a time."""

    def __init__(self):
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm"],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, module, *arguments, timeout=120, cwd=None):
        """Call ``main(*arguments)`` of a module in a fork; return how it ended, as `subprocess`."""
        with tempfile.TemporaryDirectory() as place:
            streams = [str(Path(place, name)) for name in ("out", "err")]
            folder = str(cwd or ROOT)
            job = [module, [str(argument) for argument in arguments], timeout, streams, folder]
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            code = int(self.process.stdout.readline())
            out, err = (Path(stream).read_text(errors="replace") for stream in streams)
        return subprocess.CompletedProcess([module, *arguments], code, out, err)

    def python(self, *arguments, **options):
        """Be ``python`` with ``-c`` and some lines, or with ``-m zslearn``."""
        return self.run("tests.warm", *arguments, **options)

    def close(self):
        """End the process."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def main(option, program, *arguments):
    """Do what the interpreter does with its arguments."""
    if option == "-m":
        assert program == "zslearn"
        sys.argv = ["zslearn", *arguments]
        importlib.import_module("zslearn.cli.main").main()
    else:
        sys.argv = [option, *arguments]
        sys.path.insert(0, "")
        exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})


def fork(main, arguments, timeout, streams, folder):
    """Run a job in a child and return its exit code; SIGALRM kills one that takes too long."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for stream, place in zip((1, 2), streams, strict=True):
                os.dup2(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            signal.alarm(timeout)
            os.chdir(folder)
            main(*arguments)
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def serve():
    """Run the jobs of the input, and answer each with its exit code."""
    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        module, *job = json.loads(line)
        code = fork(importlib.import_module(module).main, *job)
        sys.stdout.write(f"{code}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
