"""machine.py - the builds, folders and processes that all scenarios use."""

import os
import shutil
import signal
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 120  # seconds: what takes longer hangs


class Skip(Exception):
    """The reason why a scenario cannot run here."""


class Outcome:
    """How a process ended: its exit code, negative for a signal, None if it hung."""

    def __init__(self, words, code, out, err):
        self.words, self.code, self.out, self.err = words, code, out, err

    def __str__(self):
        how = "hangs" if self.code is None else f"ends with {self.code}"
        said = (self.err or self.out)[-600:].decode("utf-8", "backslashreplace").strip()
        return f"{' '.join(self.words)}: {how}: {said}"


class Machine:
    def __init__(self, build, asan):
        self.build = os.path.abspath(build)
        self.asan = os.path.abspath(asan) if asan else None
        self.trireme = os.path.join(self.build, "cli", "trireme")
        self.base = tempfile.mkdtemp(prefix="trireme-torture-")
        self.again = f"tests/torture/run {build}" + (f" --asan {asan}" if asan else "")
        launchers = ("OMPI_", "PMI_", "PMIX_", "SLURM_")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(launchers)}
        # bench looks for MKL by glob, in which glibc 2.36 frees twice where memory is short.
        self.environment.update(LC_ALL="C.UTF-8", TORTURE=self.base, TRIREME_MKL="/none")

    def folder(self, name):
        path = os.path.join(self.base, name)
        os.makedirs(path, exist_ok=True)
        return path

    def clean(self):
        shutil.rmtree(self.base, ignore_errors=True)

    def test(self, name, sanitized=False):
        """The path of a program in tests/ of a build."""
        build = self.asan if sanitized and self.asan else self.build
        path = os.path.join(build, "tests", name)
        if not os.access(path, os.X_OK):
            raise Skip(f"{name} is not in {build}")
        return path

    def start(self, words, cwd, env=None, **more):
        return subprocess.Popen(words, cwd=cwd, env={**self.environment, **(env or {})},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True, **more)

    def finish(self, process, patience=PATIENCE):
        words = [w if isinstance(w, str) else os.fsdecode(w) for w in process.args]
        try:
            out, err = process.communicate(timeout=patience)
            return Outcome(words, process.returncode, out, err)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            return Outcome(words, None, out, err)

    def run(self, words, cwd, env=None, patience=PATIENCE, **more):
        return self.finish(self.start(words, cwd, env, **more), patience)

    def workers(self, tag):
        """Worker processes of a program that was started with this tag in its environment."""
        found = []
        for entry in os.listdir("/proc"):
            try:
                if not entry.isdigit() or b"trireme-worker" not in open(f"/proc/{entry}/cmdline", "rb").read():
                    continue
                if tag.encode() in open(f"/proc/{entry}/environ", "rb").read():
                    found.append(int(entry))
            except OSError:
                continue  # it has ended
        return found

    def orphans(self, tag):
        """The processes left after all had time to end."""
        end = time.time() + 20
        while (found := self.workers(tag)) and time.time() < end:
            time.sleep(0.02)
        return found
