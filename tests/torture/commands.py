"""commands.py - scenarios in which a trireme command meets unexpected failures: it ends with the
right file, or with a message and the previous file unchanged."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

from machine import HERE, Skip

SMALL = "gen:poisson2d5:12"
# What each command writes, its words.  All of the optional libraries are called by one of them.
COMMANDS = [
    ("out.mtx", ["gen", SMALL[4:], "-o", "out.mtx"]),
    ("out.mtx.gz", ["gen", SMALL[4:], "-o", "out.mtx.gz"]),
    ("out.mtx.zst", ["gen", SMALL[4:], "-o", "out.mtx.zst"]),
    ("out.h5", ["gen", SMALL[4:], "-o", "out.h5"]),
    ("out.h5", ["factor", "A.mtx", "--json", "-o", "out.h5"]),
    ("out.h5", ["factor", "A.h5", "--order", "amd", "-o", "out.h5"]),
    ("out.h5", ["factor", "A.mtx.zst", "--kind", "ilu0", "-o", "out.h5"]),
    ("out.mtx", ["solve", "F.h5", "-b", "b.mtx", "-o", "out.mtx"]),
    ("out.mtx.gz", ["solve", "A.mtx.gz", "--uplo", "lower", "-o", "out.mtx.gz"]),
    ("out.mtx.zst", ["solve", "A.mtx.zst", "--uplo", "upper", "--backend", "threads:3", "-o",
                     "out.mtx.zst"]),
    ("out.mtx", ["solve", "A.h5", "--uplo", "lower", "--json", "-o", "out.mtx"]),
    ("out.mtx", ["relax", "A.mtx", "--sweeps", "20", "-o", "out.mtx"]),
    ("out.mtx", ["relax", "A.mtx.gz", "--sweeps", "2", "--json", "-o", "out.mtx"]),
    ("out.svg", ["info", "F.h5", "--svg", "out.svg"]),
    ("out.svg", ["info", "A.h5", "--json", "--svg", "out.svg"]),
    (None, ["bench", SMALL, "--methods", "serial", "--seconds", "0.001", "--json"]),
]
OLD = b"what was there before\n"
WORKER_ENDED = re.compile(rb"ended (its process )?with|was stopped after")


def leaves(value, path=()):
    """Each place in a JSON value, with the type that stands there."""
    yield path, type(value).__name__.replace("int", "float")
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from leaves(part, path + (key,))


def parts(text, words):
    """What a report has: places in JSON, one object in all or one a line, or the labels of lines."""
    if "--json" not in words:
        return {line[:18].strip() for line in text.splitlines()}
    objects = text.splitlines() if words[0] == "bench" else [text]
    return {leaf for k, o in enumerate(objects) for leaf in leaves(json.loads(o), (k,))}


class Scenario:
    """A folder with inputs, the right outputs, and checks of the files that a command left."""
    name, share, what = "", 1, ""

    def __init__(self, machine, folder):
        self.machine, self.folder = machine, folder
        for words in (["gen", SMALL[4:], "-o", "A.mtx"], ["gen", SMALL[4:], "-o", "A.mtx.gz"],
                      ["gen", SMALL[4:], "-o", "A.mtx.zst"], ["gen", SMALL[4:], "-o", "A.h5"],
                      ["factor", SMALL, "-o", "F.h5"],
                      ["solve", SMALL, "--uplo", "lower", "-o", "b.mtx"]):
            self.plain(words)
        self.inputs = set(os.listdir(folder))
        self.right, self.reports = [], []
        for output, words in COMMANDS:
            self.reports.append(parts(self.plain(words), words))
            self.right.append(self.content(output))
            self.remove(output)

    def note(self):
        return ""

    def path(self, name):
        return os.path.join(self.folder, name)

    def plain(self, words):
        o = self.machine.run([self.machine.trireme, *words], self.folder)
        if o.code != 0:
            raise Skip(f"{o}")
        return o.out

    def remove(self, name):
        if name and os.path.exists(self.path(name)):
            os.remove(self.path(name))

    def content(self, name):
        if not name:
            return None
        try:
            with open(self.path(name), "rb") as f:
                return f.read()
        except FileNotFoundError:
            return None

    def prepare(self, which):
        """The words of a command; an older file exists under the name of its output."""
        output, words = COMMANDS[which]
        if output:
            with open(self.path(output), "wb") as f:
                f.write(OLD)
        return [self.machine.trireme, *words]

    def sweep_up(self, which):
        output = COMMANDS[which][0]
        left = sorted(set(os.listdir(self.folder)) - self.inputs - {output})
        for name in left + [output]:
            self.remove(name)
        return left

    def judge(self, which, o, deadly=()):
        """The fault in how a command ended; fatal signals may end it."""
        content = self.content(COMMANDS[which][0])
        left = self.sweep_up(which)
        if o.code is None:
            return [str(o)]
        wrong = []
        if o.code == 0:
            wrong += self.judge_success(which, o, content)
        elif content not in (OLD, self.right[which]):
            wrong.append("a failure leaves neither the old file nor the new one")
        if o.code < 0 and -o.code not in deadly:
            wrong.append("a signal")
        # 127: the loader failed before the program began, with a message of its own.
        if o.code > 0 and o.code != 127 and b"trireme: " not in o.err:
            wrong.append("a failure without a message")
        if o.code == 5 and not WORKER_ENDED.search(o.err) or o.code > 5 and o.code != 127:
            wrong.append("an internal error")
        if left and o.code >= 0:
            wrong.append(f"files are left: {left}")
        return [f"{', '.join(wrong)}: {o}"] if wrong else []


    def judge_success(self, which, o, content):
        wrong = []
        try:
            lost = self.reports[which] - parts(o.out, COMMANDS[which][1])
            if lost:
                wrong.append(f"success, but the report lacks {sorted(map(repr, lost))[:3]}")
        except ValueError as problem:
            wrong.append(f"success, but the report is no JSON: {problem}")
        if content != self.right[which]:
            wrong.append("success, but not the right file")
        return wrong


class Allocations(Scenario):
    name, share = "allocations", 20
    what = "one allocation of a command or of its libraries fails, or all from one on"
    STRIDE = 1000003

    def __init__(self, machine, folder):
        super().__init__(machine, folder)
        self.preload = os.path.join(machine.build, "tests", "torture", "fail_malloc.so")
        if not os.access(self.preload, os.R_OK):
            raise Skip("no fail_malloc.so in this build: a sanitizer has its own allocator")
        self.places = [p for which in range(len(COMMANDS)) for p in self.count(which)]
        self.met = set()

    def count(self, which):
        counts = self.machine.folder("counts")
        o = self.machine.run(self.prepare(which), self.folder,
                             {"LD_PRELOAD": self.preload, "TORTURE_COUNT": counts})
        if o.code != 0:
            raise Skip(f"{o}")
        self.sweep_up(which)
        most = {}
        for name in os.listdir(counts):
            program = name.rsplit(".", 1)[0]
            with open(os.path.join(counts, name), "rb") as f:
                most[program] = max(most.get(program, 0), int.from_bytes(f.read(), "little"))
        shutil.rmtree(counts)
        return [(which, program, at) for program in sorted(most) for at in range(most[program])]

    def note(self):
        return f" ({len(self.met)} of {len(self.places)} allocations)"

    def attempt(self, seed, rng, _):
        place = seed * self.STRIDE % len(self.places)
        which, program, at = self.places[place]
        self.met.add(place)
        env = {"LD_PRELOAD": self.preload, "TORTURE_FAIL_IN": program, "TORTURE_FAIL_AT": str(at)}
        if rng.random() < 0.3:
            env["TORTURE_FAIL_ON"] = "1"
        found = self.judge(which, self.machine.run(self.prepare(which), self.folder, env))
        return 1, [f"allocation {at} of {program}{', and all after it' * ('TORTURE_FAIL_ON' in env)}: {w}"
                   for w in found]


class Traced(Scenario):
    """A command under strace, which makes one of its system calls fail."""

    def __init__(self, machine, folder):
        try:
            probe = machine.run(["strace", "-f", "-qq", "-o", "/dev/null", "true"], folder)
        except FileNotFoundError:
            raise Skip("no strace (Debian: strace)") from None
        if probe.code != 0:
            raise Skip("strace may not trace here")
        super().__init__(machine, folder)

    def inject(self, which, what):
        return self.machine.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={what}",
                                 *self.prepare(which)], self.folder)


class Kills(Traced):
    name, share, what = "kills", 22, "a command is killed at one of its system calls"

    def __init__(self, machine, folder):
        super().__init__(machine, folder)
        self.places = [(which, at) for which in range(len(COMMANDS))
                       for at in range(1, self.calls(which) + 1)]
        self.met = set()

    def calls(self, which):
        """Of its longest process, which is the program."""
        trace = self.path("trace")
        self.machine.run(["strace", "-ff", "-qq", "-o", trace, *self.prepare(which)], self.folder)
        most = 0
        for name in os.listdir(self.folder):
            if name.startswith("trace."):
                with open(self.path(name), errors="replace") as f:
                    most = max(most, sum(1 for _ in f))
        self.sweep_up(which)
        return most

    def note(self):
        return f" ({len(self.met)} of {len(self.places)} system calls)"

    def attempt(self, seed, rng, _):
        place = seed * Allocations.STRIDE % len(self.places)
        which, at = self.places[place]
        self.met.add(place)
        o = self.inject(which, f"all:signal=KILL:when={at}")
        after = self.content(COMMANDS[which][0])
        wrong = []
        if after not in (OLD, self.right[which]):
            wrong.append(f"killed at call {at}, it leaves neither the old file nor the new one: {o}")
        # A temporary file may be left between its link and its rename; the next writer succeeds.
        left = [n for n in os.listdir(self.folder) if n.startswith(".trireme-")]
        for name in left:
            os.remove(os.path.join(self.folder, name))
        again = self.machine.run(self.prepare(which), self.folder)
        if len(left) > 1:
            wrong.append(f"killed at call {at}, it leaves {left}: {o}")
        return 1, wrong + self.judge(which, again)


READS = "read,pread64,recvmsg,getdents64"
WRITES = "write,pwrite64,writev,pwritev,sendmsg,sendto"
FILES = "openat,newfstatat,statx,lseek,ftruncate,fsync,fdatasync,linkat,rename,renameat,renameat2,unlink,unlinkat,flock,fchmod,fchown,fallocate"
# Without failures that cannot occur: strace makes futex and waitid fail in undocumented ways.
START = "clone,clone3,execve,prctl,setsid,dup3,socketpair,memfd_create,pipe2,fcntl,poll"
# Without brk: strace returns an answer that the kernel never gives.
MEMORY = "mmap,mprotect,madvise,munmap,mremap"
ERRORS = [("ENOSPC", WRITES), ("ENOSPC", FILES), ("EIO", READS), ("EIO", WRITES), ("EIO", FILES),
          ("EINTR", READS), ("EINTR", WRITES), ("EINTR", "wait4,waitid,poll,openat,flock"),
          ("ENOMEM", MEMORY), ("ENOMEM", START), ("EAGAIN", "clone,clone3"),
          ("EMFILE", "openat,socketpair,memfd_create,pipe2,dup3"), ("EACCES", FILES),
          ("EPERM", START), ("ENOSYS", START), ("EDQUOT", WRITES)]


class Errors(Traced):
    name, share = "errors", 12
    what = "a system call fails, once or from there on: ENOSPC, EIO, EINTR, ENOMEM, EMFILE, ..."

    def __init__(self, machine, folder):
        """If memory runs out before main, the loader ends the program in its own ways."""
        super().__init__(machine, folder)
        self.first = {"bench": self.loading("bench", "--help"), "": self.loading("help")}

    def loading(self, *words):
        """The number of calls of each kind by a command that does nothing else.  `trireme bench`
        starts a second program."""
        trace = self.path("trace")
        self.machine.run(["strace", "-qq", "-o", trace, self.machine.trireme, *words], self.folder)
        with open(trace, encoding="utf-8", errors="replace") as f:
            lines = [line.split("(")[0] for line in f]
        os.remove(trace)
        return {call: lines.count(call) for call in MEMORY.split(",")}

    def attempt(self, seed, rng, _):
        which = seed % len(COMMANDS)
        error, calls = rng.choice(ERRORS)
        call = rng.choice(calls.split(","))
        # Most calls occur only a few times.
        at = 1 + int(60 * rng.random() ** 3)
        if calls == MEMORY:
            at += self.first["bench" if "bench" in COMMANDS[which][1] else ""][call]
        on = "+" if error not in ("EINTR", "EAGAIN") and rng.random() < 0.3 else ""
        what = f"?{call}:error={error}:when={at}{on}"
        o = self.inject(which, what)
        if call.startswith("write") and on:
            o.err += b"trireme: (nowhere to say it)"
        return 1, [f"{what}: {w}" for w in self.judge(which, o)]


class Signals(Scenario):
    name, share = "signals", 6
    what = "a signal to a command, or to the worker process it runs, at a random time"
    HARMLESS = ["SIGCHLD", "SIGCONT", "SIGWINCH", "SIGURG"]
    DEADLY = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGALRM", "SIGPIPE", "SIGKILL"]

    def attempt(self, seed, rng, _):
        which = seed % len(COMMANDS)
        tag = f"TORTURE_TAG={self.machine.base}-{seed}"
        name = rng.choice(self.HARMLESS + self.DEADLY + ["SIGSTOP"])
        to_worker, delay = rng.random() < 0.4, 0.06 * rng.random() ** 2
        process = self.machine.start(self.prepare(which), self.folder, dict([tag.split("=")]))
        time.sleep(delay)
        for pid in self.machine.workers(tag)[:1] if to_worker else [process.pid]:
            self.send(pid, name)
        o = self.machine.finish(process)
        deadly = () if to_worker else [getattr(signal, n) for n in self.DEADLY]
        wrong = self.judge(which, o, deadly)
        if orphans := self.machine.orphans(tag):
            wrong.append(f"its workers {orphans} go on: {o}")
        return 1, [f"{name} to the {'worker' if to_worker else 'command'} after {delay:.4f} s: {w}"
                   for w in wrong]

    @staticmethod
    def send(pid, name):
        try:
            os.kill(pid, getattr(signal, name))
            if name == "SIGSTOP":
                time.sleep(0.05)
                os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass


class Limits(Scenario):
    name, share = "limits", 6
    what = "ulimit: address space, data, stack, open files, size of files; no standard files"
    RANGES = {"as": (4e6, 9e8), "data": (1e5, 2e8), "stack": (3e5, 9e6), "nofile": (3, 40),
              "fsize": (1, 2e5), "nproc": (1, 50)}
    WRAPPERS = ['exec "$@" <&-', 'exec "$@" >&-', 'exec "$@" 2>&-', 'exec "$@" <&- >&- 2>&-',
                'exec "$@" >/dev/full', 'exec "$@" 2>/dev/full']

    def attempt(self, seed, rng, _):
        which = seed % len(COMMANDS)
        words = self.prepare(which)
        if rng.random() < 0.1:
            wrapper = rng.choice(self.WRAPPERS)
            o = self.machine.run(["sh", "-c", wrapper, "sh", *words], self.folder)
            if "2>" in wrapper:
                o.err += b"trireme: (nowhere to say it)"
            return 1, [f"{wrapper}: {w}" for w in self.judge(which, o)]
        what = rng.choice(list(self.RANGES))
        low, high = self.RANGES[what]
        value = int(low * (high / low) ** rng.random())
        o = self.machine.run(["prlimit", f"--{what}={value}", *words], self.folder)
        if o.err.startswith(b"prlimit: "):  # its own start failed
            o.code = 127
        # The kernel and the C library end a program that does not fit before it begins.
        before = (signal.SIGSEGV, signal.SIGKILL) if not o.out and not o.err else ()
        deadly = {"fsize": (signal.SIGXFSZ,), "as": before, "data": before, "stack": before}
        return 1, [f"--{what}={value}: {w}" for w in self.judge(which, o, deadly.get(what, ()))]


class Names(Scenario):
    name, share = "names", 2
    what = "files whose names hold any bytes: none of them reaches the terminal as a control"
    PARTS = [b"\033[31m", b"\n", b"\r", b"\x9b", b"\xc3\xa9", b"%s%n", b"\x7f", b"'", b'"', b"`id`",
             b"$(id)", b" ", b"\xe2\x80\xae", b"a", b"\\", b"\x01", b"\xff\xfe", b"<b>", b"&", b"gen:",
             b"n" * 60]

    def attempt(self, seed, rng, _):
        stem = b"".join(rng.choice(self.PARTS) for _ in range(rng.randrange(1, 9)))
        if rng.random() < 0.5:
            stem = bytes(rng.choice([c for c in range(1, 256) if c != 47]) for _ in range(rng.randrange(1, 60)))
        stem = (b"x" if stem[:1] in b"-" or stem.startswith(b"gen:") else b"") + stem
        name = stem + rng.choice([b".mtx", b".h5", b".mtx.gz", b".mtx.zst"])
        folder = os.fsencode(self.folder)
        trireme = self.machine.trireme
        wrong = []
        o = self.machine.run([trireme, "gen", SMALL[4:], "-o", name], folder)
        made = o.code == 0
        wrong += self.look(o, made or o.code == 3)
        for words in (["info", name], ["solve", name, "--uplo", "lower"], ["info", name + b"/no"],
                      ["solve", name, "--json", "--uplo", "lower"], ["frobnicate", name]):
            o = self.machine.run([trireme, *words], folder)
            expected = (0, 4) if made and name in words and words[0] != "frobnicate" else (2, 3)
            wrong += self.look(o, o.code in expected)
        for left in os.listdir(folder):
            if os.fsdecode(left) not in self.inputs:
                os.remove(os.path.join(folder, left))
        return 6, wrong

    @staticmethod
    def look(o, good):
        shown = (o.out + o.err).decode("utf-8", "surrogateescape")
        evil = [c for c in shown if c < " " and c != "\n" or "\x7f" <= c < "\xa0" or c in "\u202e"
                or "\udc80" <= c <= "\udcff"]
        return [] if good and not evil else [f"{'controls ' + repr(evil) if evil else 'exit code'}: {o}"]


class Locales(Scenario):
    name, share = "locales", 2
    what = "a command where numbers have commas, and I is not the capital of i: the same file and report"
    NAMES = ["de_DE", "tr_TR", "ps_AF"]
    VARIABLES = ["LC_ALL", "LANG", "LC_NUMERIC", "LC_CTYPE"]

    def __init__(self, machine, folder):
        super().__init__(machine, folder)
        self.locales = machine.folder("locale")
        self.made = [n for n in self.NAMES if self.make(n)]
        if not self.made:
            raise Skip("no localedef, or no sources of locales (Debian: locales)")

    def make(self, name):
        to = os.path.join(self.locales, f"{name}.UTF-8")
        try:
            self.machine.run(["localedef", "-i", name, "-f", "UTF-8", to], self.folder)
        except FileNotFoundError:
            return False
        return os.path.isdir(to)

    def attempt(self, seed, rng, _):
        which = seed % len(COMMANDS)
        chosen = rng.sample(self.VARIABLES, rng.randrange(1, 5))
        env = {v: f"{rng.choice(self.made)}.UTF-8" for v in chosen}
        if "LC_ALL" not in env:
            env["LC_ALL"] = ""
        o = self.machine.run(self.prepare(which), self.folder, {"LOCPATH": self.locales, **env})
        if o.code != 0:
            o.code = None
        return 1, [f"{env}: {w}" for w in self.judge(which, o)]


class Paths(Scenario):
    """What a command says of a path before its work is what happens in the end, and a file that is
    replaced keeps its rights."""
    name, share = "paths", 3
    what = "output paths: owners, groups, modes, sticky folders, links, long names"
    STRANGERS = [0, 54321, 54322]

    def attempt(self, seed, rng, _):
        folder = self.path("paths")
        os.mkdir(folder)
        try:
            return 1, self.try_path(folder, rng)
        finally:
            shutil.rmtree(folder)

    def owners(self, rng):
        return [rng.choice(self.STRANGERS) if os.geteuid() == 0 else -1 for _ in range(2)]

    def try_path(self, folder, rng):
        for above in (self.machine.base, self.folder):
            os.chmod(above, 0o755)
        name = rng.choice(["a", "n" * 240, "n" * 251, "n" * 252, "n" * 300, "a b", "\u00e9"]) + ".mtx"
        path = os.path.join(folder, name)
        kind = rng.choice(["file"] * 6 + ["none", "link", "dangling", "folder"])
        if len(name) > 255:
            kind = "none"
        done = f"{kind} {name[:20]}"
        target = path
        if kind in ("link", "dangling"):
            target = os.path.join(folder, "target.mtx")
            os.symlink("target.mtx", path)
        if kind in ("file", "link"):
            with open(target, "wb") as f:
                f.write(OLD)
            mode = rng.choice([0, 0o400, 0o444, 0o600, 0o640, 0o644, 0o660, 0o664, 0o666, 0o777])
            owner, group = self.owners(rng)
            os.chown(target, owner, group)
            os.chmod(target, mode)
            done += f", {owner}:{group} {mode:o}"
        elif kind == "folder":
            os.mkdir(path)
        owner, group = self.owners(rng)
        mode = rng.choice([0o777, 0o1777, 0o755, 0o700, 0o775, 0o2775, 0o1775, 0o555])
        os.chown(folder, owner, group)
        os.chmod(folder, mode)
        user, groups = self.owners(rng)
        become = [] if user < 0 else ["setpriv", f"--reuid={user}", f"--regid={user}", f"--groups={groups}"]
        done = f"{done} in {owner}:{group} {mode:o}, by {become[1:]}"
        return [f"{done}: {w}" for w in self.compare(become, path, target)]

    def compare(self, become, path, target):
        before = os.stat(target) if os.path.isfile(target) else None
        check = self.machine.run([*become, self.machine.trireme, "solve", "missing.mtx", "-o", path], self.folder)
        left = [n for n in os.listdir(os.path.dirname(path)) if n.startswith(".trireme-")]
        # The same work; that it is ready is known by the message about the missing matrix.
        allowed = b"missing.mtx" in check.err
        o = self.machine.run([*become, self.machine.trireme, "gen", SMALL[4:], "-o", path], self.folder)
        left += [n for n in os.listdir(os.path.dirname(path)) if n.startswith(".trireme-")]
        wrong = [f"files are left: {left}"] if left else []
        if (o.code == 0) != allowed:
            wrong.append(f"before the work: {check}; in the end: {o}")
        if o.code != 0 and before is not None:
            after = os.stat(target)
            if (after.st_mode, after.st_ino) != (before.st_mode, before.st_ino):
                wrong.append(f"a failure changes the old file: {o}")
        if o.code == 0 and before is not None:
            wrong += self.judge_rights(become, before, os.stat(target))
        return wrong

    @staticmethod
    def judge_rights(become, before, after):
        user = int(become[1].split("=")[1]) if become else os.geteuid()
        group_bits = before.st_mode & 0o777
        if after.st_gid != before.st_gid:
            group_bits &= 0o707 | (group_bits & 7) << 3
        wrong = []
        if after.st_mode & 0o777 != group_bits:
            wrong.append(f"mode {before.st_mode & 0o777:o} of group {before.st_gid} is "
                         f"{after.st_mode & 0o777:o} of {after.st_gid}")
        if user == 0 and (after.st_uid, after.st_gid) != (before.st_uid, before.st_gid):
            wrong.append("root has not kept owner and group")
        return wrong


class Ranks(Scenario):
    name, share = "ranks", 7
    what = "a rank of three is stopped for 10 s, or killed, at a random time, and named"
    RANK = 'echo $$ >rank.$OMPI_COMM_WORLD_RANK; exec "$@"'

    def __init__(self, machine, folder):
        self.mpirun = os.path.join(os.path.dirname(HERE), "mpi", "run")
        super().__init__(machine, folder)
        if b" MPI      yes" not in machine.run([machine.trireme, "--version"], folder).out:
            raise Skip("no MPI in this build")
        self.words = [self.mpirun, "3", "sh", "-c", self.RANK, "sh", machine.trireme, "solve", "F.h5",
                      "--grid", "3x1x1", "--repeat", "20000"]

    def attempt(self, seed, rng, _):
        rank, delay, kills = rng.randrange(3), 0.1 + 3 * rng.random(), rng.random() < 0.4
        process = self.machine.start(self.words, self.folder, {"TRIREME_TIMEOUT": "2"})
        time.sleep(delay)
        try:
            with open(self.path(f"rank.{rank}"), encoding="ascii") as f:
                pid = int(f.read())
            os.kill(pid, signal.SIGKILL if kills else signal.SIGSTOP)
            if not kills:
                self.wait(process, 10)
                os.kill(pid, signal.SIGCONT)
        except (OSError, ValueError):
            pass  # it has not begun, or has ended
        o = self.machine.finish(process)
        for k in range(3):
            if os.path.exists(self.path(f"rank.{k}")):
                os.remove(self.path(f"rank.{k}"))
        done = f"rank {rank} is {'killed' if kills else 'stopped'} after {delay:.2f} s"
        return 1, [] if self.is_good(o, rank, kills) else [f"{done}: {o}"]

    @staticmethod
    def is_good(o, rank, kills):
        """Who is named is the right one; of killed ranks mpirun says it.  A rank that has not come
        to MPI_Init, or to the opening of the ranks, has no name yet."""
        if o.code == 0:
            return b"backward error" in o.out
        named = set(re.findall(rb"rank (\d+) (?:does not answer|with PID)", o.err))
        early = (b"Primary job" if kills else b"not all ranks made") in o.err
        return bool(o.code) and (named == {b"%d" % rank} or early and not named)

    @staticmethod
    def wait(process, seconds):
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            pass


SCENARIOS = [Allocations, Errors, Kills, Signals, Limits, Names, Locales, Paths, Ranks]
