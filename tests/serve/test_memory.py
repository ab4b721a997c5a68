import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
from zslearn.serve.running import keep_memory
assert sys.argv[1] == "no" or keep_memory()
faults = []
for _ in range(8):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    parts = [b"x" * 2**22 for _ in range(3)]
    del parts
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(max(faults[4:]))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_memory_of_a_large_request_serves_the_next_one():
    def faults(keep):
        command = [sys.executable, "-c", PROGRAM, keep]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert faults("yes") < 10 < faults("no")
