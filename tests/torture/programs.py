"""programs.py - scenarios that are test programs, run repeatedly with other seeds."""

import os
import re

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
    Fuzzers, Mutations, Valgrind, Analyzer, Loaded,
    program("counters", 1, "counters of solves and sweeps begin just below a wrap", "test_api_counters"),
    # Not under the address sanitizer, whose own lock a child may inherit from a busy thread.
    program("forks", 2, "children of a process that solves, reads and relaxes", "test_api_fork",
            sanitized=False),
    program("cancels", 3, "threads are cancelled while they read, write, order and solve", "test_io_limit",
            "test_worker_worker", "test_api_threads", sanitized=False),  # clang's reports the end of such threads
    program("changes", 2, "files are changed, shortened and rewritten while they are read",
            "test_io_source"),
    program("boards", 1, "processes that share memory are killed, late, or find planted files",
            "test_comm_rendezvous"),
]
