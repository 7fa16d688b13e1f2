"""Every Debian package that a message or tools/setup names can be installed from Debian."""

import os
import re
import shutil
import subprocess

from harness import check, finish, run, skip

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAME = re.compile(r"\b(?:lib[a-z0-9.+-]+-dev(?:-[a-z0-9-]+)?|[a-z0-9]+1g-dev|openmpi-bin"
                  r"|nvidia-cuda-[a-z]+)\b")


def text(*parts):
    with open(os.path.join(SOURCE, *parts), encoding="utf-8", errors="replace") as f:
        return f.read()


def named():
    """Name of package -> a file that names it."""
    found = {}
    for folder in ["src", "cli", "bench", "cmake", "tools"]:
        for where, _, files in os.walk(os.path.join(SOURCE, folder)):
            for file in files:
                if "results" in where or not re.search(r"\.(c|h|cpp|cmake|txt)$|^[a-z]+$", file):
                    continue
                for package in NAME.findall(text(where, file)):
                    found.setdefault(package, file)
    for package in NAME.findall(text("CMakeLists.txt")):
        found.setdefault(package, "CMakeLists.txt")
    for words in re.findall(r'^(?:need|want|lint)="([^"$]*)"', text("tools", "setup"), re.MULTILINE):
        found.update((package, "tools/setup") for package in words.split())
    return found


def installable(packages):
    """The packages that apt knows a version of; one call for all, since each call takes a while."""
    said = subprocess.run(["apt-cache", "policy", *packages], capture_output=True, text=True).stdout
    return set(re.findall(r"^(\S+):\n.*\n  Candidate: (?!\(none\))\S", said, re.MULTILINE))


packages = named()
check("packages are found in the sources", {"zlib1g-dev", "libhdf5-dev", "openmpi-bin"} <=
      set(packages), packages)
known = installable(packages) if shutil.which("apt-cache") else set()
if "zlib1g-dev" not in known:
    skip("packages can be installed", "no lists of packages on this machine (apt-get update)")
else:
    for package, file in sorted(packages.items()):
        check(f"{package}, in {file}", package in known)
version = run("--version").out
for feature in re.findall(r"^  (\S+) +no .*", version, re.MULTILINE):
    line = re.search(rf"^  {feature} .*", version, re.MULTILINE).group()
    check(f"--version says how to get {feature}", "(install " in line or "(build with " in line, line)
finish()
