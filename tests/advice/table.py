"""What the messages advise, and how each remedy is tried.  A row is of one of these kinds:

command(words, gets, follows)   shell: the first command fails with the words, the second one works
python(words, gets, follows)    the same with lines of Python
elsewhere(words, test, token)   a test in another file follows the remedy; token is in that file
cannot(words, why)              nothing here can follow it

words is a part of the message as it stands in the source; shown is what appears of it, if that differs."""

from types import SimpleNamespace

# Messages that name a missing library: the names of packages and options are checked.
REBUILD = r"install [\w %'()-]+ and build|build with -DTRIREME_"

# Folders whose messages need a GPU, or several: names are checked, the tests of GPUs get them.
DEVICES = ("src/device/", "src/comm/", "src/solve/cuda/", "src/solve/multigpu/", "src/relax/cuda/",
           "src/solve/grid3d/gpus.c", "src/solve/grid3d/spread_tasks.c", "papers/X20/unified.c")

# Options of other programs.
NAMES = {"--install": "cmake", "--oversubscribe": "mpirun", "--long": "zstd"}

# Help, headings and reports.
NOT_ADVICE = [
    "These keys are stable", "Several GPUs, or the ranks of mpirun", "use at most GB gigabytes",
    "With --grid the factors are distributed", "the time of %s sweeps", "the time of %s solves",
    "Times the solve methods on a suite", "Trireme, first call", "{name} is {value}: {_range", "times as fast as", "The designs, solve alone",
]


def row(kind, words, shown=None, **more):
    return SimpleNamespace(kind=kind, words=words, shown=words if shown is None else shown, **more)


def command(words, gets, follows, shown=None):
    return row("command", words, shown, gets=gets, follows=follows)


def python(words, gets, follows, before="", shown=None):
    return row("python", words, shown, gets=gets, follows=follows, before=before)


def elsewhere(words, test, token):
    return row("elsewhere", words, test=test, token=token)


def cannot(words, why):
    return row("cannot", words, why=why)


GENERAL = "printf '%%%%MatrixMarket matrix coordinate real general\\n%s' "
A = "trireme gen poisson2d5:5 -o A.mtx && "
F = "trireme factor gen:poisson2d5:5 --kind ilu0 -o F.h5 && "
PROGRAM = "printf '#!/bin/sh\\nexit 1\\n' > p && chmod +x p && "
C = "tests/api/advice.c"
MPI = "needs ranks whose GPUs, or whose grid, no test machine of CI has"
SHORT = "needs a matrix, or a want of memory, beyond a test"
BROKEN = "needs an installation of two versions; the remedy is the installation that every test uses"
TORCH = "needs torch, CuPy or JAX, which this test does not have; the names are theirs"

TABLE = [
    # ---- Triangles
    command("has no diagonal entry: add one, or solve with a unit diagonal",
            GENERAL + "'2 2 2\n1 1 1\n2 1 3\n' > t.mtx && trireme solve t.mtx --uplo lower",
            "trireme solve t.mtx --uplo lower --diag unit && trireme solve t.mtx --uplo lower --add-diagonal",
            shown="trireme"),
    python("the first of %lld such row%s: add one, or solve with a unit diagonal",
           "tr.plan(A)", "tr.plan(A, unit_diagonal=True); tr.plan(A + sp.eye(2, format='csr'))",
           before="A = sp.csr_matrix((np.ones(1), [0], [0, 0, 1]), (2, 2))",
           shown="add one, or solve with a unit diagonal"),
    python("take that triangle of it, or factor it first", "tr.Plan(A)",
           "tr.Plan(A, take_triangle=True); tr.ilu0(A).solve(np.ones(2))",
           before="A = sp.csr_matrix(np.array([[4.0, 1], [1, 4]]))",
           shown="take that triangle of it, or factor it first"),
    python("has an entry %s the diagonal", "tr.Plan(A)",
           "tr.Plan(tr.triangle(A)); tr.ilu0(A).solve(np.ones(2))",
           before="A = sp.csr_matrix(np.array([[4.0, 1], [1, 4]]))",
           shown="take that triangle of it, or factor it first"),
    python("share memory: pass an array of its own",
           "tr.plan(A).solve(b, out=np.lib.stride_tricks.as_strided(np.ones(1), (2,), (0,)))",
           "tr.plan(A).solve(b, out=np.ones(2))",
           before="A, b = sp.csr_matrix(np.eye(2)), np.ones(2)"),
    python("which has no streams: leave it out", "tr.plan(A, stream=0)", "tr.plan(A)",
           before="A = sp.csr_matrix(np.eye(2))"),
    python("too small, or too large, for its reciprocal: scale it", "tr.plan(A)",
           "tr.plan(sp.csr_matrix(sp.diags([1, 1e300]) @ A))",
           before="A = sp.csr_matrix(np.diag([1, 5e-324]))"),
    command("is not triangular: %s entries below", A + "trireme solve A.mtx",
            "trireme solve A.mtx --uplo lower && trireme solve A.mtx --uplo upper && "
            "trireme factor A.mtx -o FACTORS.h5 --kind ilu0 && trireme solve FACTORS.h5",
            shown="Give --uplo lower or --uplo upper to solve with one triangle, or factor it: "
                  "trireme factor A.mtx -o FACTORS.h5"),
    # ---- Factors
    python("at its mirror differ; use ILU(0), or say which triangle is stored", "tr.ic0(A)",
           "tr.ilu0(A).solve(np.ones(2)); tr.ic0(A, uplo='lower'); tr.ic0(A, uplo='upper')",
           before="A = sp.csr_matrix(np.array([[4.0, 1], [2, 4]]))",
           shown="use ILU(0), or say which triangle is stored"),
    python("use a shift, ILU(0) or a larger diagonal", "tr.ic0(A)",
           "tr.ic0(A, shift=1e-3); tr.ilu0(A).solve(np.ones(2)); tr.ic0(A + 9 * sp.eye(2, format='csr'))",
           before="A = sp.csr_matrix(np.array([[1.0, 3], [3, 1]]))"),
    python("begin with a larger shift, or use ILU(0)", "tr.ic0(A, shift=1e-30)",
           "tr.ic0(A, shift=1e-3); tr.ilu0(A).solve(np.ones(2))",
           before="A = sp.csr_matrix(np.array([[1.0, 3], [3, 1]]))"),
    python("is not positive, which no shift ", "tr.ic0(A, shift=1e-3)", "tr.ilu0(A).solve(np.ones(2))",
           before="A = sp.csr_matrix(np.array([[1.0, 2], [2, -1]]))", shown="use ILU(0)"),
    command("use a shift or a larger diagonal",
            GENERAL + "'2 2 4\n1 1 1\n1 2 3\n2 1 3\n2 2 1\n' > t.mtx && "
            "trireme factor t.mtx -o t.h5 --kind bic0",
            "trireme factor t.mtx -o t.h5 --kind bic0 --shift 1e-3"),
    python("its elimination overflowed; scale rows and columns", "tr.ilu0(A)",
           "R, C = sp.diags([1, 1e-200, 1e200]), sp.diags([1, 1e200, 1e-200]); tr.ilu0(sp.csr_matrix(R @ A @ C))",
           before="A = sp.csr_matrix(np.array([[1, 0, 1e200], [1e200, 1, 1], [0, 0, 1]]))"),
    cannot("LU: %lld entries are too many", SHORT),
    cannot("which count up to %lld in each; use ILU(0)", SHORT),
    cannot("out of memory in AMD", SHORT),
    cannot("too many for COLAMD's 32-bit integers: use the natural order", SHORT),
    cannot("orderings take up to 2147483647: use the natural order", SHORT),
    elsewhere("factors are written as HDF5: give a name", C, "names_of_files_say_the_format"),
    elsewhere("which is not in the pattern of the factors: factor it anew", "tests/factor/refactor.c",
              "the_remedy_is_to_factor_anew"),
    elsewhere("factor the matrix anew, which chooses pivots", "tests/factor/refactor.c",
              "the_remedy_is_to_factor_anew"),
    elsewhere("or its pivots no longer suit it; factor it anew", "tests/factor/refactor.c",
              "the_remedy_is_to_factor_anew"),
    elsewhere("those of LU, ILU0 and IC0 are: factor the matrix anew", "tests/factor/refactor.c",
              "the_remedy_is_to_factor_anew"),
    elsewhere("in the matrix that was factored: factor this one anew", "tests/factor/refactor.c",
              "the_remedy_for_other_patterns"),
    elsewhere("as trs_factor stores %s: factor the matrix anew", "tests/factor/refactor.c",
              "factors_in_another_form"),
    python("pass the matrix with its new values", "F.refactor(A.data)", "F.refactor(A)",
           before="A = sp.csr_matrix(np.eye(3)); F = tr.ilu0(A)"),
    python("A is complex, and the factors are {self.dtype}: factor A anew", "F.refactor(A * 1j)", "tr.lu(A * 1j)",
           before="A = sp.csr_matrix(np.eye(3)); F = tr.lu(A)",
           shown="A is complex, and the factors are float64: factor A anew"),
    cannot("of {self.dtype} are wanted, convert them there", TORCH),
    cannot("entries: give new values in host memory", SHORT),
    elsewhere("analyse with trs_options.launch_updates, or update outside the capture",
              "tests/solve/cuda/engine/launched_updates.c", "an_update_that_waits_is_not_captured"),
    elsewhere("which launch_updates excludes: take method engine on one GPU",
              "tests/solve/cuda/engine/launched_updates.c", "what_cannot_be_is_refused"),
    elsewhere("a plan over factors: use trs_update_factors", C, "each_plan_has_its_update"),
    elsewhere("a plan over one triangle: use trs_update", C, "each_plan_has_its_update"),
    elsewhere("the plan was made for other factors", C, "each_plan_has_its_update"),
    elsewhere("permutes b and x as a whole: use trs_solve", C, "factors_are_solved_with_as_a_whole"),
    elsewhere("convert the matrix (trs_matrix_convert)", C, "a_matrix_in_another_type_is_converted"),
    elsewhere("cannot become real: ask for a complex type", C, "a_matrix_in_another_type_is_converted"),
    elsewhere("new values by blocks are for plans over BILU0", C, "blocks_are_factored_anew"),
    elsewhere("x and b overlap: pass the same array", C, "x_and_b_may_be_one_array"),
    elsewhere("set it to sizeof(%s)", "tests/base/structs.c", "set it to sizeof"),
    elsewhere("destroy the clones, update that plan, and clone it again", "tests/plan/clone.c", "the plan that it was made from"),
    elsewhere("destroy the clones, update, and clone again", "tests/plan/clone.c", "with 1 clone: destroy the clones"),
    python("close the clones, update that plan, and clone it again",
           "p = tr.plan(A); c = p.clone(); c.update(2 * A.data)",
           "p = tr.plan(A); c = p.clone(); c.close(); p.update(2 * A.data); p.clone()",
           before="A = sp.csr_matrix(np.eye(3))"),
    python("close the clones, update, and clone again", "p = tr.plan(A); c = p.clone(); p.update(2 * A.data)",
           "p = tr.plan(A); c = p.clone(); c.close(); p.update(2 * A.data); p.clone()",
           before="A = sp.csr_matrix(np.eye(3))"),
    python("close the clones, refactor, and clone again",
           "F = tr.lu(A); c = F.plan().clone(); F.refactor(2 * A)",
           "F = tr.lu(A); c = F.plan().clone(); c.close(); F.refactor(2 * A); F.plan().clone()",
           before="A = sp.csr_matrix(np.eye(3))"),
    elsewhere("give each thread a %s of its own", "tests/api/threads.c", "another call uses"),
    cannot("ask for fewer threads", SHORT),
    command("has no parameters: leave out", "trireme solve gen:poisson2d5:5 --uplo lower --method serial:a=1",
            "trireme solve gen:poisson2d5:5 --uplo lower --method serial",
            shown="has no parameters: leave out \":a=1\""),
    # ---- Contexts
    cannot("CUDA and OpenCL do not survive a fork", "needs a GPU; tests/api/fork.c"),
    cannot("take a context such as \"cuda:0-3\", or \"cuda:0-0\" for one", "needs a GPU"),
    cannot("the context has no GPU: make one with", "needs a GPU; tests/api/device.c"),
    cannot("this build has HIP, and no CUDA: use", "needs a build with HIP and a GPU"),
    cannot("solves in several streams", "needs several GPUs"),
    # ---- Files
    elsewhere("decompress it first (%s %s)", "tests/cli/convert.py", "unpacks("),
    elsewhere("unpack it first (tar xf", "tests/cli/convert.py", "unpacks(\"tar"),
    elsewhere("make a .mtx file beside it by", "tests/cli/convert.py", "converts("),
    command("read them as a complex type", "printf '%%%%MatrixMarket matrix coordinate complex general\\n"
            "1 1 1\n1 1 1 1\n' > z.mtx && trireme solve z.mtx --uplo lower --precision d",
            "trireme solve z.mtx --uplo lower --precision z",
            shown="read them as a complex type (--precision z, dtype=\"complex128\", TRS_DCOMPLEX)"),
    python("read them as a complex type", "tr.read(folder + '/z.mtx', dtype='float64')",
           "tr.read(folder + '/z.mtx', dtype='complex128')"),
    elsewhere("which cannot be read in parts: read all of it", C, "what_has_no_parts_is_read_whole"),
    elsewhere("%s %s: read all of it (trs_matrix_read)", C, "what_has_no_parts_is_read_whole"),
    elsewhere("values on the diagonal depend on whole rows", C, "what_has_no_parts_is_read_whole"),
    elsewhere("generators make complete matrices", C, "what_has_no_parts_is_read_whole"),
    elsewhere("but these are deferred: read all of it", C, "deferred_values_are_read_whole"),
    elsewhere("read it whole (trs_matrix_read)", C, "deferred_values_are_read_whole"),
    elsewhere("has changed since it was opened", C, "a_file_that_changed_is_opened_again"),
    elsewhere("has changed while it was being read: read it again", "tests/io/source.c", "has changed"),
    elsewhere("vectors are written as Matrix Market arrays", C, "names_of_files_say_the_format"),
    elsewhere("has no version: add \"version\": \"0.1\"", "tests/io/interchange.py", "has no version"),
    command("store one triangle only",
            "printf '%%%%MatrixMarket matrix coordinate real symmetric\\n2 2 2\n1 2 1\n2 1 1\n' > s.mtx && "
            "trireme info s.mtx",
            "printf '%%%%MatrixMarket matrix coordinate real symmetric\\n2 2 1\n2 1 1\n' > s.mtx && "
            "trireme info s.mtx"),
    command("choose a smaller size, or raise", "trireme info gen:poisson2d5:2000 --max-memory 0.01",
            "trireme info gen:poisson2d5:20 --max-memory 0.01 && trireme info gen:poisson2d5:500 --max-memory 1"),
    python("choose a smaller size, or raise", "tr.generate('poisson2d5:500', max_bytes=10000)",
           "tr.generate('poisson2d5:50', max_bytes=-1); tr.generate('poisson2d5:500', max_bytes=10**9)",
           shown="raise the limit (max_bytes"),
    cannot("give more memory, or write the file again", SHORT),
    # ---- Generators, workers, programs
    cannot("all %d points lie on a line: take another seed", "three random points of 2^26 x 2^26 do not"),
    elsewhere("or name the folder in the environment variable TRIREME_WORKERS", "tests/worker/worker.c",
              "TRIREME_WORKERS"),
    elsewhere("let nobody else write to the program and its folders (chmod", "tests/worker/worker.c", "chmod(planted"),
    elsewhere("or correct TRIREME_WORKERS", "tests/worker/worker.c", "TRIREME_WORKERS"),
    cannot("its worker program %s: install Trireme again", BROKEN),
    cannot("nor one in libexec/trireme: install Trireme again", BROKEN),
    cannot("there is no mpirun in PATH: install openmpi-bin", "the package's name is checked"),
    cannot("too large for METIS: take another partition", SHORT),
    # ---- Ranks
    cannot("a rank solves on one GPU or on threads of the CPU", MPI),
    cannot("solves by block operations: leave out", MPI),
    cannot("Algorithm 4 solves grids of one GPU", MPI),
    cannot("Algorithm 5 solves grids of several GPUs", MPI),
    cannot("a rank relaxes on one GPU or on the CPU", MPI),
    elsewhere("each rank brought its rows", "tests/mpi/relax.c", "trs_mpi_relax_update_bsr(R"),
    elsewhere("rank 0 brought a matrix", "tests/mpi/relax.c", "trs_mpi_relax_update(R"),
    cannot("relaxation does not run on OpenCL devices", "needs an OpenCL device"),
    cannot("relaxation on several GPUs works within one process", MPI),
    elsewhere("use a context of \"cuda\" or \"cuda:N\"", "tests/cli/relax.py", "is a GPU's"),
    cannot("more than a message holds: take more ranks", SHORT),
    elsewhere("factor with more leaves, or take a smaller Pz", "tests/mpi/command", "the grids after more leaves"),
    command("with --grid ranks solve: leave out --%s", F + "trireme solve F.h5 --grid 1x1x1 --tune",
            "trireme solve F.h5 --grid 1x1x1", shown="with --grid ranks solve: leave out --tune"),
    # ---- The command
    command("standard output cannot take: give a file name", "trireme factor gen:poisson2d5:5 --kind ilu0 -o -",
            "trireme factor gen:poisson2d5:5 --kind ilu0 -o G.h5"),
    command("factors are written as HDF5: name the file %s.h5",
            "trireme factor gen:poisson2d5:5 --kind ilu0 -o G",
            "trireme factor gen:poisson2d5:5 --kind ilu0 -o G.h5", shown="name the file G.h5"),
    command("--nrhs is for random right-hand sides: leave it out with -b FILE",
            "trireme solve gen:poisson2d5:5 --uplo lower -o b.mtx && "
            "trireme solve gen:poisson2d5:5 --uplo lower -b b.mtx --nrhs 2",
            "trireme solve gen:poisson2d5:5 --uplo lower -b b.mtx && trireme relax gen:poisson2d5:5 -b b.mtx"),
    command("--%s is for random right-hand sides: leave it out with -b FILE",
            "trireme solve gen:poisson2d5:5 --uplo lower -o c.mtx && "
            "trireme relax gen:poisson2d5:5 -b c.mtx --seed 1",
            "trireme relax gen:poisson2d5:5 -b c.mtx", shown="--seed is for random right-hand sides: leave it out"),
    command("give a name such as x.mtx", "trireme solve gen:poisson2d5:5 --uplo lower -o x.h5",
            "trireme solve gen:poisson2d5:5 --uplo lower -o x.mtx"),
    command("give -o a file", "trireme solve gen:poisson2d5:5 --uplo lower -o - --json",
            "trireme solve gen:poisson2d5:5 --uplo lower -o x.mtx --json"),
    command("to which %s does not apply: leave it out", F + "trireme solve F.h5 --uplo lower",
            "trireme solve F.h5", shown="to which --uplo does not apply: leave it out"),
    command("try another --block-size or a smaller relaxation factor (--omega)",
            GENERAL + "'2 2 4\n1 1 1\n1 2 -2\n2 1 2\n2 2 1\n' > d.mtx && trireme relax d.mtx --sweeps 20",
            "trireme relax d.mtx --sweeps 20 --block-size 2 && trireme relax d.mtx --sweeps 20 --omega 0.3"),
    python("too large to be stored as a float: store as double", "tr.relaxation(A)",
           "tr.relaxation(A, store='double')",
           before="A = sp.csr_matrix(np.array([[1e45, 1e40], [1, 1]]))"),
    # ---- Batches
    python("the batch has no values: call %s first", "tr.batch(A, 2, uplo='lower', take_triangle=True).solve(np.ones((2, 25)))",
           "B = tr.batch(A, 2, uplo='lower', take_triangle=True); B.update(np.ones((2, A.nnz))); B.solve(np.ones((2, 25)))",
           before="A = tr.generate('poisson2d5:5')", shown="the batch has no values"),
    python("make the batch of a matrix of that type, L.astype({given!r})", "B.update(v)",
           "B = tr.batch(L.astype('complex128'), 2); B.update(v); B.solve(np.ones((2, 2)))",
           before="L = sp.csr_matrix(np.eye(2)); v = np.ones((2, 2)) * 1j; B = tr.batch(L, 2)",
           shown="make the batch of a matrix of that type, L.astype('complex128')"),
    python("make the batch of factors of a matrix of that type, A.astype({given!r})", "B.update(v, v)",
           "B = tr.batch(tr.lu(A.astype('complex128')), 2); B.update(v, v); B.solve(np.ones((2, 2)))",
           before="A = sp.csr_matrix(np.eye(2)); v = np.ones((2, 2)) * 1j; B = tr.batch(tr.lu(A), 2)",
           shown="make the batch of factors of a matrix of that type, A.astype('complex128')"),
    python("{name} is for a batch of a matrix: leave it out for factors", "tr.batch(F, 2, uplo='lower')", "tr.batch(F, 2)",
           before="F = tr.lu(sp.csr_matrix(np.eye(2)))", shown="uplo is for a batch of a matrix: leave it out for factors"),
    python("hermitian is for a batch of factors: leave it out for a matrix", "tr.batch(A, 2, hermitian=True)", "tr.batch(A, 2)",
           before="A = sp.csr_matrix(np.eye(2))"),
    python("its values are those of L, leave U_values out", "B.update(v, v)", "B.update(v)",
           before="v = np.ones((2, 2)); B = tr.batch(tr.ic0(sp.csr_matrix(np.eye(2))), 2)",
           shown="leave U_values out"),
    elsewhere("take_triangle is for a batch of a matrix: leave it out for factors", "tests/solve/batch/batch.c",
              "leave it out for factors"),
    elsewhere("the batch is of factors: call trs_batch_update_factors", "tests/solve/batch/batch.c", "call trs_batch_update_factors"),
    elsewhere("the batch is of one triangle: call trs_batch_update", "tests/solve/batch/batch.c", "call trs_batch_update"),
    elsewhere("its values are those of L, pass NULL as U_val", "tests/solve/batch/factored.c", "pass NULL as U_val"),
    elsewhere('batches are solved on the CPU or on one GPU: create the context by \"auto\"', "tests/solve/batch/batch.c", "threads:2"),
    # ---- Benchmarks
    cannot("there is no chart of %s's results: leave out --svg", "needs results that take minutes"),
    command("%s runs through CUDA: leave out --backend opencl", "trireme bench factors --backend opencl",
            "trireme bench factors --list", shown="factors runs through CUDA: leave out --backend opencl"),
    command("runs on a GPU: leave out --backend cpu", "trireme bench l17 --backend cpu",
            "trireme bench l17 --list"),
    command("--threads are the CPU's: leave it out with --backend cuda",
            "trireme bench quick --backend cuda --threads 2", "trireme bench quick --list"),
    command("--json prints what a run finds: leave it out", "trireme bench gen:poisson2d5:9 --seconds 0 "
            "--peer none -o r.json && trireme bench --table r.json --json",
            "trireme bench --table r.json"),
    command("--svg draws results: leave it out with --list", "trireme bench --list --svg x.svg",
            "trireme bench --list"),
    cannot("name a newer one by TRIREME_CUSPARSE", "needs a GPU and two versions of cuSPARSE"),
    command("solves in double: leave out --scalar float", PROGRAM + "trireme bench quick --backend cuda --peer "
            "p=./p --scalar float", "trireme bench quick --peer p=./p --list"),
    command("solves for one right-hand side: add 1 to --nrhs", PROGRAM + "trireme bench gen:poisson2d5:9 --seconds 0 "
            "--peer none --peer p=./p --nrhs 2",
            "trireme bench gen:poisson2d5:9 --seconds 0 --peer none --peer p=./p --nrhs 1,2 "
            "|| test $? = 1"),
    command("the name '%s' is taken: choose another", PROGRAM + "trireme bench quick --peer serial=./p",
            "trireme bench quick --peer p=./p --list", shown="the name 'serial' is taken: choose another"),
    elsewhere("start as many (mpirun -np)", "tests/mpi/command", "start as many (mpirun -np)"),
    command("name a file ", "trireme gen poisson2d5:40 -o A.mtx && trireme solve A.mtx --uplo lower -b A.mtx --max-memory 0.005",
            "trireme solve A.mtx --uplo lower -o b.mtx && trireme solve A.mtx --uplo lower -b b.mtx && trireme solve A.mtx --uplo lower",
            shown="name a file of right-hand sides, or leave -b out for a random one"),
    # ---- Python
    python("{kind[2:]}, pass {other}", "tr.plan(A)", "tr.plan(A, uplo='upper')",
           before="A = sp.csr_matrix(np.array([[4.0, 1], [0, 4]]))",
           shown="A is upper triangular, pass uplo=\"upper\""),
    python("pass take_triangle=True to solve with its {which} triangle", "tr.plan(A)",
           "tr.plan(A, take_triangle=True); tr.ilu0(A).solve(np.ones(2)); tr.lu(A).solve(np.ones(2))",
           before="A = sp.csr_matrix(np.array([[4.0, 1], [1, 4]]))",
           shown="pass take_triangle=True to solve with its lower triangle, or factor A first (trireme.lu, trireme.ilu0)"),
    python("all of them are zeros, pass take_triangle=True for its {which} triangle", "tr.plan(A)",
           "tr.plan(A, take_triangle=True); tr.batch(A, 2, take_triangle=True)",
           before="A = sp.csr_matrix(np.array([[4.0, 1], [1, 4]])); A.data[1] = 0",
           shown="pass take_triangle=True for its lower triangle"),
    python("pass indptr - 1 and ", "tr.plan(O)", "O.indptr, O.indices = O.indptr - 1, O.indices - 1; tr.plan(O)",
           before="O = type('O', (), dict(format='csr', shape=(1, 1), indptr=np.array([1, 2]), indices=np.array([1]), data=np.ones(1)))",
           shown="pass indptr - 1 and indices - 1"),
    python("a batch cannot be pickled or copied: pickle the matrix or the factors, and ", "pickle.dumps(tr.batch(A, 2))",
           "tr.batch(pickle.loads(pickle.dumps(A)), 2)", before="import pickle; A = sp.csr_matrix(np.eye(2))",
           shown="pickle the matrix or the factors, and call trireme.batch with them"),
    python("were made: factor A anew", "pickle.loads(pickle.dumps(tr.ilu0(A))).refactor(A)", "tr.ilu0(A).refactor(A)",
           before="import pickle; A = sp.csr_matrix(np.eye(2))", shown="factor A anew"),
    python("take one triangle with trireme.triangle", "tr.spsolve_triangular(A, np.ones(2))",
           "tr.spsolve_triangular(tr.triangle(A), np.ones(2)); tr.ilu0(A).solve(np.ones(2))",
           before="A = sp.csr_matrix(np.array([[4.0, 1], [1, 4]]))",
           shown="take one triangle with trireme.triangle, or factor A first (trireme.lu, trireme.ilu0)"),
    python("pass overwrite_b=True to put it into b", "tr.spsolve_triangular(A, b, b)",
           "x = tr.spsolve_triangular(A, b, overwrite_b=True); assert x is b",
           before="A = sp.csr_matrix(np.eye(2)); b = np.ones(2)",
           shown="lower is True or False, not an ndarray: x is what the call returns; pass overwrite_b=True to put it into b"),
    python(": lower=False solves with the upper triangle", "tr.spsolve_triangular(A, np.ones(2), 'upper')",
           "tr.spsolve_triangular(A, np.ones(2), lower=False)",
           before="A = sp.csr_matrix(np.array([[4.0, 1], [0, 4]]))",
           shown="lower is True or False, not 'upper': lower=False solves with the upper triangle"),
    python("and lower is {lower}: give one of them", "tr.plan(A, 'upper', lower=True)",
           "tr.plan(A, 'upper'); tr.plan(A, lower=True)", before="A = sp.csr_matrix(np.eye(2))",
           shown="uplo is 'upper' and lower is True: give one of them"),
    python("make it with copy=True of a", "import pickle; pickle.dumps(tr.relaxation(A, copy=False))",
           "pickle.dumps(tr.relaxation(A, copy=True))", before="A = sp.csr_matrix(np.eye(2))",
           shown="make it with copy=True of a matrix in host memory"),
    cannot("install the package's GPU part, pip install", "needs nvcc; the options are pyproject.toml's"),
    elsewhere("use trireme.jax.solve there", "bindings/python/tests/test_jax.py", "jax.jit(lambda b: tr.jax.solve(p"),
    elsewhere("make it once, outside, by trireme.jax.pattern(A), or pass a plan", "bindings/python/tests/test_jax.py", "tr.jax.solve(p, A.data, b)"),
    elsewhere("or vmap: make the pattern outside", "bindings/python/tests/test_jax.py", "tr.jax.pattern(B, lower=False)"),
    cannot("make the plan from a matrix in host memory", TORCH),
    elsewhere("or another of float32, float64, complex64 and complex128", "bindings/python/tests/test_jax.py", 'values.astype("float32")'),
    elsewhere("on a machine with one, or leave device out", "bindings/python/tests/test_jax.py", "tr.jax.solve(tr.jax.pattern(A), A.data, b)"),
    elsewhere("the CPU: leave device out, then the pattern solves where the", "bindings/python/tests/test_jax.py", "tr.jax.solve(tr.jax.pattern(A), A.data, b)"),
    cannot("no C compiler (Debian: gcc; or name one in CC)", TORCH),
    cannot("make it L.to_sparse_csr()", TORCH),
    elsewhere("pass values.float() and b.float()", "bindings/python/tests/test_torch.py", "values.float(), b.float()"),
    elsewhere("call trireme.torch.solve in a loop", "bindings/python/tests/test_torch.py", "solve(v, r).sum().backward()"),
    python("or \"cpu\"; leave threads out", "tr.plan(A, device='serial', threads=4)",
           "tr.plan(A, device='serial'); tr.plan(A, device='cpu', threads=4)",
           before="A = sp.csr_matrix(np.eye(2))", shown="leave threads out"),
    python("{make}pass b.astype(", "p.solve(np.ones(2))",
           "p.solve(np.ones(2).astype('float32')); tr.plan(A, dtype='float64').solve(np.ones(2))",
           before="A = sp.csr_matrix(np.eye(2, dtype='f4')); p = tr.plan(A)",
           shown="make the plan with dtype='float64', or pass b.astype('float32')"),
    python("make the plan with dtype={name!r}", "p.solve(np.ones(2) * 1j)",
           "p.solve(np.ones(2).astype('complex64')); tr.plan(A, dtype='complex128').solve(np.ones(2) * 1j)",
           before="A = sp.csr_matrix(np.eye(2, dtype='f4')); p = tr.plan(A)",
           shown="make the plan with dtype='complex128', or pass b.astype('complex64')"),
    python("would lose their imaginary parts: pass dtype=", "tr.plan(A, dtype='float64')",
           "tr.plan(A, dtype='complex128')", before="A = sp.csr_matrix(np.eye(2) * 1j)",
           shown="would lose their imaginary parts: pass dtype='complex128'"),
    python("make the factors from a matrix of that type", "tr.ilu0(A).solve(np.ones(2))",
           "tr.ilu0(A.astype('float64')).solve(np.ones(2)); tr.ilu0(A).solve(np.ones(2).astype('float32')); "
           "tr.from_factors(A.astype('float64'), A.astype('float64')).plan().solve(np.ones(2))",
           before="A = sp.csr_matrix(np.eye(2, dtype='f4'))",
           shown="make the factors from a matrix of that type, A.astype('float64'), or pass b.astype('float32')"),
    python("the matrix has another pattern than the one that was analysed: make a new plan",
           "tr.plan(sp.csr_matrix(np.eye(2))).update(B)", "tr.plan(B)",
           before="B = sp.csr_matrix(np.array([[1.0, 0], [1, 1]]))"),
    elsewhere("using this plan: make a new one in the child", "bindings/python/tests/test_processes.py", "\"spawn\""),
    cannot("using this relaxation: make a new one in the child", "as with plans"),
    command("or name the library in TRIREME_LIBRARY", "TRIREME_LIBRARY=/no/such.so $PYTHON -c 'import trireme'",
            "TRIREME_LIBRARY=$LIBRARY $PYTHON -c 'import trireme'"),
    cannot("or name another library in TRIREME_LIBRARY", BROKEN),
    cannot("use trireme.torch.solve, or x.detach()", TORCH),
    cannot("and b through cupy.from_dlpack(b)", TORCH),
    cannot("pass a stream of CuPy or torch", TORCH),
    cannot("use A.to_sparse_csr()", TORCH),
    cannot("in device memory: {wanted} is wanted", TORCH),
    cannot("put all on one device", TORCH),
    cannot("lu of a matrix on a GPU: copy it to the host first", TORCH),
    cannot("to host memory, or make the batch with device", TORCH),
    cannot("copy it into an array that is", "needs a GPU; tests/api/device.c gets it there"),
    elsewhere("does not leave them, raise it (ulimit -n)", "tests/cli/environment.py", "few open files"),
    cannot("put both on one device", TORCH),
    cannot("copy one to the other's place", TORCH),
    cannot("A is on a GPU: copy it to host memory", TORCH),
    cannot("or make the plan with device=", TORCH),
    cannot("or leave device out", TORCH),
    # ---- PETSc
    elsewhere("use -pc_factor_mat_ordering_type instead", "tests/petsc/options", "pc_factor_mat_ordering_type"),
    elsewhere("than in the symbolic factorisation: call that again", "tests/petsc/factors.c", "another pattern"),
    elsewhere("factor it again before it solves", "tests/petsc/factors.c", "factor it again"),
    elsewhere("set it up again before it is applied", "tests/petsc/factors.c", "set it up again"),
    cannot("build PETSc with double or single", "needs another PETSc"),
]
