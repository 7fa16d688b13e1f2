"""What surrounds the command changes no answer: locales, pipes that do not block, limits, no /proc."""

import fcntl
import os
import resource
import shutil
import subprocess
import threading

from harness import FOLDER, PATIENCE, SANITIZED, TRIREME, Outcome, check, finish, has, path, run, skip, surroundings, write

run("gen", "poisson2d5:40", "-o", "A.mtx")
PACKED = "A.mtx.gz" if has("zlib") else "A.mtx"
run("gen", "poisson2d5:40", "-o", PACKED)

# ---- locales: a decimal comma; an i whose capital is not I

write("upper.mtx", "%%MatrixMarket MATRIX COORDINATE INTEGER GENERAL\n2 2 2\n1 1 3\n2 2 4\n")
locales = path("locales")
os.mkdir(locales)
for name in ("de_DE", "tr_TR"):
    try:
        subprocess.run(["localedef", "-i", name, "-f", "UTF-8", f"{locales}/{name}.UTF-8"],
                       capture_output=True, timeout=PATIENCE)
    except OSError:
        pass
    if not os.path.exists(f"{locales}/{name}.UTF-8"):
        skip(f"the locale {name}", "it cannot be made (Debian: locales)")
        continue
    env = {"LOCPATH": locales, "LC_ALL": f"{name}.UTF-8",
           "ASAN_OPTIONS": "detect_leaks=0"}  # glibc's newlocale loses its copy of LOCPATH
    for words in (["info", "upper.mtx"], ["info", "A.mtx", "--json"], ["help", "solve"], ["gen", "--list"],
                  ["solve", "A.mtx", "--max-memory", "0.001"], ["solve", "A.mtx", "--uplo", "up"],
                  ["relax", "A.mtx", "--omega", "0.5", "--sweeps", "2", "-o", "-"], ["info", "missing.mtx"],
                  ["completion", "bash"], ["methods"]):
        plain, local = run(*words), run(*words, env=env)
        for o in (plain, local):  # measured times differ
            o.out = "\n".join(l for l in o.out.splitlines() if " time " not in l and '_s": ' not in l)
        same = plain.err == local.err or words[-1] == "-"  # the report has times
        check(f"{name}: {' '.join(words)}", plain.code == local.code and plain.out == local.out and same,
              f"{plain}\n{local}")
    o = run("solve", "A.mtx", "--uplo", "lower", "--json", "-o", "x.mtx", env=env)
    check(f"{name}: numbers in JSON and in files", o.code == 0 and o.json().get("backward_error", 1) is not None and
          open(path("x.mtx")).read().count(",") == 0 and o.json() != {}, o)

# ---- pipes that another program has made nonblocking


def nonblocking(*words, stdin=None):
    """The outcome with standard output a small pipe that does not block and is read late."""
    out, into = os.pipe()
    fcntl.fcntl(into, fcntl.F_SETPIPE_SZ if hasattr(fcntl, "F_SETPIPE_SZ") else 1031, 4096)
    os.set_blocking(into, False)
    process = subprocess.Popen([TRIREME, *words], stdout=into, stderr=subprocess.PIPE, stdin=stdin,
                               cwd=FOLDER, env=surroundings())
    os.close(into)
    said = []
    reader = threading.Thread(target=lambda: said.append(process.stderr.read()))
    reader.start()
    with os.fdopen(out, "rb") as f:
        text = f.read()
    reader.join()
    return Outcome(process.wait(timeout=PATIENCE), text.decode(), said[0].decode())


for words in (["gen", "poisson2d5:100", "-o", "-"], ["gen", "poisson2d5:100", "-o", "/dev/stdout"],
              ["solve", "--help"], ["completion", "bash"]):
    o, plain = nonblocking(*words), run(*words)
    check(f"nonblocking standard output: {' '.join(words)}", o.code == 0 and o.out == plain.out,
          f"{o}\n{len(o.out)} bytes, not {len(plain.out)}")
text = open(path("A.mtx"), "rb").read()
end, into = os.pipe()
os.set_blocking(end, False)
process = subprocess.Popen([TRIREME, "info", "/dev/stdin"], stdin=end, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           cwd=FOLDER, env=surroundings())
os.close(end)
with os.fdopen(into, "wb") as f:
    f.write(text)
out, err = process.communicate(timeout=PATIENCE)
check("nonblocking standard input", process.returncode == 0, f"{process.returncode} {err}")

# ---- limits


def limit(what, value, user=None):
    def setup():
        resource.setrlimit(what, (value, value))
        if user:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
    return setup


for files in range(3, 20):
    o = run("info", "A.mtx", setup=limit(resource.RLIMIT_NOFILE, files))
    good = o.code == 0 or o.code == 127 or "open files" in o.err
    factored = None
    if has("METIS") and not SANITIZED:
        factored = run("factor", "A.mtx", "--kind", "ilu0", "--order", "nd", "-o", "F.h5",
                setup=limit(resource.RLIMIT_NOFILE, files))
        good = good and (factored.code in (0, 127) or "open files" in factored.err or "NOFILE" in factored.err)
    if not good:
        break
check("few open files: it works, or says so", good, f"limit {files}: {o}\n{factored or ''}")
if os.geteuid() == 0 and not SANITIZED:
    os.chmod(FOLDER, 0o755)
    stranger = 54321  # has no other processes
    for words in (["info", "A.mtx"], ["solve", "A.mtx", "--uplo", "lower"], ["relax", "A.mtx"]):
        o = run(*words, setup=limit(resource.RLIMIT_NPROC, 1, stranger))
        check(f"no second thread: {words[0]}", o.code == 0, o)
    o = run("solve", "A.mtx", "--uplo", "lower", "--backend", "threads:3",
            setup=limit(resource.RLIMIT_NPROC, 1, stranger))
    check("no second thread where three are asked for", o.code == 4 and "fewer threads" in o.err, o)
    if has("METIS"):
        o = run("factor", "A.mtx", "--kind", "ilu0", "--order", "nd", "-o", "/dev/null.h5",
                setup=limit(resource.RLIMIT_NPROC, 1, stranger))
        check("a worker that cannot start", o.code in (3, 4), o)
else:
    skip("no second thread", "only root has strangers, and a sanitizer has threads of its own")

if has("METIS") and not SANITIZED:
    o = run("factor", "gen:poisson3d7:40", "--kind", "ilu0", "--order", "nd", "-o", "F.h5",
            env={"TRIREME_WORKER_MB": "5"})
    check("a worker's limit of memory is named", o.code == 4 and "5 MB at most: TRIREME_WORKER_MB" in o.err, o)

# ---- no OpenCL device, for one cause or another

if has("OpenCL") and not SANITIZED:
    opencl = ["solve", "gen:chain:5", "--uplo", "lower", "--backend", "opencl"]
    drivers = path("drivers")
    os.mkdir(drivers)
    o = run(*opencl, env={"OCL_ICD_VENDORS": drivers})
    check("no OpenCL driver: one is to be installed", o.code == 4 and "install its driver" in o.err, o)
    write("drivers/broken.icd", "/no/such/driver.so\n")
    o = run(*opencl, env={"OCL_ICD_VENDORS": drivers})
    check("an OpenCL driver that does not load: why", o.code == 4 and "install" not in o.err and
          "broken.icd names cannot be loaded: /no/such/driver.so" in o.err, o)
    write("drivers/broken.icd", "libc.so.6\n")
    o = run(*opencl, env={"OCL_ICD_VENDORS": drivers})
    check("an OpenCL driver without a device", o.code == 4 and "a driver is installed and finds none" in o.err, o)
    if run(*opencl).code == 0:
        o = run(*opencl, setup=limit(resource.RLIMIT_AS, 150 << 20))
        check("no memory for an OpenCL driver: nothing is to be installed", o.code not in (0, 2) and
              "install its driver" not in o.err, o)
else:
    skip("causes of no OpenCL device", "this build has no OpenCL, or a sanitizer")

# ---- no /proc

HIDE = ["unshare", "-m", "sh", "-c", 'mount --make-rprivate / && mount -t tmpfs none /proc && exec "$@"', "sh"]


def without_proc(*words):
    done = subprocess.run([*HIDE, TRIREME, *words], capture_output=True, cwd=FOLDER, env=surroundings(),
                          timeout=PATIENCE)
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


hides = shutil.which("unshare") and subprocess.run([*HIDE, "true"], capture_output=True).returncode == 0
if hides and not SANITIZED:
    for words in (["info", "A.mtx"], ["solve", "A.mtx", "--uplo", "lower", "-o", "y.mtx"], ["relax", PACKED],
                  ["gen", "poisson2d5:9", "-o", "B.mtx"], ["methods"], ["gen", "poisson2d5:3", "-o", "-"],
                  ["gen", "poisson2d5:3", "-o", "/dev/stdout"]):
        o = without_proc(*words)
        check(f"no /proc: {' '.join(words)}", o.code == 0, o)
    if has("HDF5"):
        run("gen", "poisson2d5:9", "-o", "A.h5")
        o = without_proc("info", "A.h5")
        check("no /proc: an HDF5 file is not called damaged", o.code == 4 and "mount /proc" in o.err, o)
    o = without_proc("bench", "--list")
    check("no /proc: bench says so", o.code == 4 and "/proc/self/exe" in o.err, o)
else:
    skip("no /proc", "mounts cannot be hidden here")
finish()
