"""programs.py - scenarios that are test programs, run repeatedly with other seeds."""

import os
import re
import shutil

from machine import HERE, Skip

TESTS = os.path.dirname(HERE)


class Program:
    """Some test programs; their cases are the tries."""
    name, share, what, programs, sanitized = "", 1, "", (), True

    def __init__(self, machine, folder):
        self.machine, self.folder = machine, folder
        self.paths = [machine.test(p, self.sanitized) for p in self.programs]

    def note(self):
        return ""

    def attempt(self, seed, rng, _):
        cases, wrong = 0, []
        for path in self.paths:
            o = self.machine.run([path], self.folder, {"TRIREME_SEED": str(seed)}, patience=900)
            cases += (o.out + o.err).count(b"[       OK ]")
            if o.code != 0:
                wrong.append(f"TRIREME_SEED={seed} {o}")
        return cases, wrong


def program(name, share, what, *programs, sanitized=True):
    return type(name.capitalize(), (Program,), {"name": name, "share": share, "what": what,
                                                "programs": programs, "sanitized": sanitized})


class Mutations(Program):
    """Most go to forks of one process, which are fast and have limits of memory; some go the whole
    way, with real workers, under a sanitizer."""
    name, share = "mutations", 24
    what = "files of five HDF5 writers, Matrix Market, .gz and .zst with bytes changed, checksums mended"
    programs = ("fuzz/fuzz_mutate",)
    BATCHES = (4000, 100)
    FOLDERS = [os.path.join(TESTS, "fuzz", "corpus", f) for f in ("mutate", "matrix_market")]

    def __init__(self, machine, folder):
        super().__init__(machine, folder)
        self.forks = machine.test("fuzz/fuzz_mutate_forks")
        self.ends = {"ended": 0, "was stopped": 0, "was short of memory": 0}

    def note(self):
        return " (libhdf5 " + ", ".join(f"{what} {n} times" for what, n in self.ends.items()) + ")"

    def attempt(self, seed, rng, _):
        calls = ((self.forks, self.BATCHES[0], self.FOLDERS[:1]), (*self.paths, self.BATCHES[1], self.FOLDERS))
        return sum(self.BATCHES), [w for path, count, folders in calls
                                   for w in self.change(path, count, seed * count, folders)]

    def change(self, path, count, first, folders):
        env = {"TRIREME_WORKER_SECONDS": "2", "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1",
               "ASAN_OPTIONS": "allocator_may_return_null=1:max_allocation_size_mb=64:abort_on_error=1"}
        o = self.machine.run([path, str(count), str(first), *folders], self.folder, env, patience=3000)
        # What libhdf5 does to its process is an error to the reader, as it should be.
        for what in self.ends:
            self.ends[what] += sum(map(int, re.findall(what.encode() + rb" (\d+) times", o.out)))
        if o.code == 0:
            return []
        at = (re.findall(rb"at mutation (\d+)", o.err) or [b"%d" % first])[-1].decode()
        return [f"mutation {at}, alone: {path} 1 {at} {' '.join(folders)}\n{o}"]


class Fuzzers(Program):
    name, share = "fuzzers", 20
    what = "libFuzzer with both sanitizers: JSON, numbers, Matrix Market, vectors, well-formed HDF5"
    TARGETS = ["json", "number", "matrix_market", "vectors", "hdf5"]

    def attempt(self, seed, rng, seconds):
        each = max(1, int(seconds / len(self.TARGETS)))
        o = self.machine.run([os.path.join(TESTS, "fuzz", "run"), str(each), *self.TARGETS], TESTS,
                             {"FUZZ_SEED": str(seed % 2**31)}, patience=3 * seconds + 900)
        if o.code == 77:
            raise Skip("clang has no libFuzzer")
        units = sum(map(int, re.findall(rb"stat::number_of_executed_units: *(\d+)", o.out + o.err)))
        return units, [] if o.code == 0 else [f"FUZZ_SEED={seed % 2**31} {o}"]


class Loaded(Program):
    """The tries are the allocations that fail in new threads, and the other cases."""
    name, share, sanitized = "loaded", 4, False
    what = "a program that loads the library: allocations fail in new threads, signals, the smallest stack"
    programs = ("test_api_loaded",)

    def attempt(self, seed, rng, _):
        library = os.path.join(self.machine.build, "src", "libtrireme.so")
        o = self.machine.run([*self.paths, library], self.folder, {"TRIREME_SEED": str(seed)}, patience=900)
        failed = sum(map(int, re.findall(rb"(\d+) allocations failed", o.out)))
        return failed + o.out.count(b"\nok "), [f"TRIREME_SEED={seed} {o}"] if o.code != 0 else []


class Interrupts(Program):
    """The tries are interrupts; each ends with one while the interpreter ends."""
    name, share = "interrupts", 4
    what = "Ctrl-C at random times in every call of the Python package, with its memory counted"
    SCRIPT = os.path.join(TESTS, "..", "bindings", "python", "tests", "interrupts.py")

    def __init__(self, machine, folder):
        super().__init__(machine, folder)
        if machine.run(["/usr/bin/python3", "-c", "import numpy, scipy"], folder).code:
            raise Skip("no SciPy (Debian: python3-scipy)")

    def attempt(self, seed, rng, seconds):
        package = os.path.abspath(os.path.join(TESTS, "..", "bindings", "python"))
        library = os.path.join(self.machine.build, "src", "libtrireme.so")
        o = self.machine.run(["/usr/bin/python3", self.SCRIPT, str(seed), str(min(20.0, seconds))], self.folder,
                             {"PYTHONPATH": package, "TRIREME_LIBRARY": library}, patience=600)
        tries = sum(map(int, re.findall(rb"(\d+) interrupts", o.out)))
        return tries, [f"seed {seed}: {o}\n{o.out.decode()}"] if o.code != 0 else []


class Planted(Program):
    """A worker program in a tree of folders and links, of which other users may write some.  It runs
    only if none of them can, and never from the folder that the program is in."""
    name, share = "planted", 2
    what = "worker programs in folders with random owners, modes and links, or in the current folder"
    WORKER = "trireme-worker-metis"
    STRANGER = 12345

    def __init__(self, machine, folder):
        super().__init__(machine, folder)
        if b"METIS    yes" not in machine.run([machine.trireme, "--version"], folder).out:
            raise Skip("no METIS in this build")

    def attempt(self, seed, rng, _):
        top = os.path.join(self.folder, str(seed))
        os.mkdir(top)
        wrong = self.named(rng, top) if rng.random() < 0.8 else self.current(rng, top)
        shutil.rmtree(top)
        return 1, wrong

    def plant(self, top, folder):
        path = os.path.join(folder, self.WORKER)
        with open(path, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\n: >{top}/ran\n")
        os.chmod(path, 0o755)
        return path

    def spoil(self, rng, path, is_folder):
        """What other users then can do, or nothing."""
        modes = [(0o755, False), (0o700, False), (0o555, False), (0o757, True), (0o777, True)]
        if os.geteuid() == 0:
            modes.append((0o775, True))
        mode, bad = rng.choice(modes)
        os.chmod(path, mode)
        if os.geteuid() == 0 and rng.random() < 0.15:
            os.chown(path, self.STRANGER, 0)
            bad = True
        if is_folder and mode == 0o777 and rng.random() < 0.3:
            os.chmod(path, 0o1777)
            bad = bad and os.stat(path).st_uid != os.geteuid()
            return bad, True
        return bad, False

    def named(self, rng, top):
        """In the folder that TRIREME_WORKERS names."""
        bad = False
        folder, sticky = top, False
        for k in range(rng.randrange(1, 4)):
            real, sticky_above = os.path.join(folder, f"real{k}"), sticky
            os.mkdir(real)
            spoilt, sticky = self.spoil(rng, real, True)
            bad |= spoilt
            folder = real
            if rng.random() < 0.3:  # a link beside the folder, which a sticky folder must not have
                folder = os.path.join(os.path.dirname(real), f"link{k}")
                os.symlink(os.path.basename(real) if rng.random() < 0.5 else real, folder)
                bad |= sticky_above
        path = self.plant(top, folder)
        bad |= self.spoil(rng, path, False)[0] or sticky
        o = self.machine.run([self.machine.trireme, "factor", "gen:poisson2d5:20", "--order", "nd", "-o", "F.h5"],
                             top, {"TRIREME_WORKERS": folder})
        ran, said = os.path.exists(os.path.join(top, "ran")), b"is not run: " in o.err
        if ran == bad or said != bad:
            tree = self.machine.run(["ls", "-lanR", top], top).out.decode()
            return [f"{'others can' if bad else 'nobody else can'} write to it: {o}\n{tree}"]
        return []

    def current(self, rng, top):
        """In the current folder, below it and above it, for a command that a relative path names."""
        here = os.path.join(top, "bin", "sub")
        for folder in ("bin/sub", "libexec/trireme", "bin/libexec/trireme", "bin/sub/libexec/trireme"):
            os.makedirs(os.path.join(top, folder), exist_ok=True)
            self.plant(top, os.path.join(top, folder))
        words = [os.path.relpath(self.machine.trireme, here), "factor", "gen:poisson2d5:20", "--order", "nd", "-o", "F.h5"]
        o = self.machine.run(words, here, {"PATH": rng.choice([".", "", os.environ["PATH"]])})
        if os.path.exists(os.path.join(top, "ran")) or o.code != 0:
            return [f"a program of the current folder, or none: {o}"]
        return []


class Valgrind(Program):
    name, share, what = "valgrind", 4, "test programs under valgrind, kernels without AVX"
    programs = ("test_api_arguments", "test_matrix_create", "test_factor_ilu0", "test_solve_threads_schedule",
                "test_order_tree", "test_io_json", "test_base_structs", "test_analysis_levels")

    sanitized = False

    def __init__(self, machine, folder):
        super().__init__(machine, folder)
        try:
            machine.run(["valgrind", "--version"], folder)
        except FileNotFoundError:
            raise Skip("no valgrind (Debian: valgrind)") from None

    def attempt(self, seed, rng, _):
        o = self.machine.run(["valgrind", "-q", "--error-exitcode=99", "--leak-check=full",
                              self.paths[seed % len(self.paths)]], self.folder,
                             {"TRIREME_SEED": str(seed), "TRIREME_ISA": "baseline"}, patience=3000)
        return (o.out + o.err).count(b"[       OK ]"), [str(o)] if o.code != 0 else []


class Analyzer(Program):
    """Each try is some files; all files are tried before any is repeated."""
    name, share, what = "analyzer", 2, "gcc's static analyzer, file by file"
    EACH = 4

    def __init__(self, machine, folder):
        super().__init__(machine, folder)
        self.words = [os.path.join(TESTS, "..", "tools", "analyze"), machine.build]
        o = machine.run([*self.words, "--list"], folder)
        if o.code == 77:
            raise Skip("gcc has no -fanalyzer")
        self.files = o.out.decode().split()

    def attempt(self, seed, rng, _):
        first = seed * self.EACH
        files = [self.files[(first + k) % len(self.files)] for k in range(self.EACH)]
        o = self.machine.run([*self.words, *files], self.folder, {"JOBS": "1"}, patience=3000)
        return self.EACH, [o.out.decode("utf-8", "replace")] if o.code != 0 else []


SCENARIOS = [
    Fuzzers, Mutations, Valgrind, Analyzer, Loaded, Interrupts, Planted,
    program("counters", 1, "counters of solves and sweeps begin just below a wrap", "test_api_counters"),
    # Not under the address sanitizer, whose own lock a child may inherit from a busy thread.
    program("forks", 2, "children of a process that solves, reads and relaxes", "test_api_fork",
            sanitized=False),
    program("cancels", 3, "threads are cancelled while they read, write, order and solve; their calls are, by the flag",
            "test_io_limit", "test_worker_worker", "test_api_threads", "test_api_cancel", sanitized=False),  # clang's reports the end of such threads
    program("changes", 2, "files are changed, shortened and rewritten while they are read",
            "test_io_source"),
    program("extremes", 3, "values near the limits of the range, in every method, once and in batches",
            "test_solve_extremes"),
    program("doubling", 2, "four times the size takes about four times as long, in every order, factorisation and analysis",
            "test_api_doubling", sanitized=False),
    program("boards", 1, "processes that share memory are killed, late, or find planted files",
            "test_comm_rendezvous"),
]
