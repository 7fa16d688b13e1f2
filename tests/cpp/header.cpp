/* header.cpp - trireme.hpp: every element type and width of index, views, failures, moves, factors,
 * relaxation.  With NO_EXCEPTIONS it is compiled without them, under a policy of its own. */
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#ifdef NO_EXCEPTIONS
#include <csetjmp>
static std::jmp_buf on_failure;
static char failure[256];
[[noreturn]] static void fail(const char *message) {
  std::snprintf(failure, sizeof failure, "%s", message);
  std::longjmp(on_failure, 1);
}
#define TRIREME_FAIL(status, message, row) fail(message)
#endif
#include <trireme.hpp>

namespace {

bool failed;

void verdict(const char *name, bool holds) {
  std::printf("%s %s\n", holds ? "ok" : "not ok", name);
  failed |= !holds;
}

/* L = (2; 1 4; . 1 8), whose solutions are exact. */
template <class P, class I, class V>
bool solves(int base) {
  const std::vector<P> ptr{P(base), P(base + 1), P(base + 3), P(base + 5)};
  const std::vector<I> idx{I(base), I(base), I(base + 1), I(base + 1), I(base + 2)};
  const std::vector<V> val{V(2), V(1), V(4), V(1), V(8)}, b{V(2), V(9), V(10)};
  const trireme::context ctx("serial");
  const trireme::matrix L(3, 3, ptr, idx, val, TRS_COPY, TRS_CSR, base);
  const trireme::plan plan = trireme::triangular_solve_inspect(ctx, L, TRS_LOWER);
  std::vector<V> x(3);
  trireme::triangular_solve(plan, b, x);
  std::array<V, 3> in_place{b[0], b[1], b[2]};
  plan.solve(in_place, in_place);
  return x == std::vector<V>{V(1), V(2), V(1)} && in_place == std::array<V, 3>{V(1), V(2), V(1)} &&
         plan.n() == 3 && !plan.description().empty();
}

void test_types() {
  verdict("float, 32-bit", solves<std::int32_t, std::int32_t, float>(0));
  verdict("double, from 1", solves<std::int32_t, std::int32_t, double>(1));
  verdict("complex, 64-bit", solves<std::int64_t, std::int64_t, std::complex<double>>(0));
  verdict("float complex, mixed", solves<std::int64_t, std::int32_t, std::complex<float>>(1));
}

/* Values in the order given, of which two are of one entry. */
void test_new_values() {
  const trireme::context ctx("serial");
  trireme::matrix L(1, 1, std::array<int, 2>{0, 2}, std::array<int, 2>{0, 0},
                    std::array<double, 2>{1, 1});
  trireme::plan plan(ctx, L, TRS_LOWER);
  std::array<double, 1> b{8}, x{};
  L.set_values(std::array<double, 2>{1, 3});
  plan.update(L);
  plan.solve(b, x);
  verdict("new values of repeated entries", x[0] == 2);
}

trireme::matrix laplacian() { return trireme::matrix("gen:poisson2d5:30"); }

/* A plan outlives what it was made from, and moves. */
void test_factors() {
  trireme::plan plan;
  const trireme::matrix A = laplacian();
  {
    const trireme::context ctx("serial");
    const trireme::factors F(A, TRS_FACTOR_IC0);
    auto options = trireme::make<trs_options>();
    options.nrhs = 2;
    trireme::plan made(ctx, F, TRS_NO_TRANS, &options);
    made.update(F);
    plan = std::move(made);
    verdict("a moved plan is empty", !made);
  }
  std::vector<double> b(2 * 900, 1.0), x(2 * 900);
  plan.solve(b, x);
  auto error = trireme::make<trs_backward_error>();
  trireme::check(trs_check(&error, A.get(), TRS_GENERAL, TRS_NO_TRANS, TRS_NONUNIT, x.data(), 900,
                           b.data(), 900, 2, TRS_COL_MAJOR));
  verdict("two right-hand sides", error.componentwise < 1 && x[0] == x[900] && x[0] != 0);
  verdict("information", plan.info().n == 900);
  trireme::plan clone = plan.clone();
  plan = trireme::plan();
  std::vector<double> y(2 * 900);
  clone.solve(b, y);
  verdict("a clone", x == y && clone.n() == 900);
}

void test_relaxation() {
  const trireme::context ctx("serial");
  const trireme::matrix A = laplacian();
  trireme::relaxation R(ctx, A, 3);
  std::vector<double> b(900, 1.0), x(900);
  auto options = trireme::make<trs_sweep_options>();
  options.sweeps = 5;
  R.sweep(x.data(), 900, b.data(), 900, 1, TRS_COL_MAJOR, &options);
  verdict("relaxation", x[0] > 0 && R.info().block_size == 3);
  std::vector<double> y(900);
  R.clone().sweep(y.data(), 900, b.data(), 900, 1, TRS_COL_MAJOR, &options);
  R.wait();
  verdict("a clone of a relaxation",
          x == y && R.description().find("300 rows of blocks of 3") != std::string::npos);
}

/* Runs a call that must fail, and compares the message. */
template <class F>
void refuses(const char *name, const char *words, F &&call) {
#ifdef NO_EXCEPTIONS
  if (setjmp(on_failure)) {
    verdict(name, std::strstr(failure, words) != nullptr);
    return;
  }
  call();
  verdict(name, false);
#else
  try {
    call();
    verdict(name, false);
  } catch (const trireme::error &e) {
    verdict(name, e.status() != TRS_SUCCESS && std::strstr(e.what(), words) != nullptr);
  }
#endif
}

void test_failures() {
  static const std::vector<std::int64_t> ptr{0, 1, 2};
  static const std::vector<std::int32_t> idx{0, 1};
  static const std::vector<double> val{1, 0};
  static const trireme::context ctx("serial");
  static const trireme::matrix A(2, 2, ptr, idx, val),
      D(1, 1, std::array<int, 2>{0, 1}, std::array<int, 1>{0}, std::array<double, 1>{2});
  static const trireme::plan plan(ctx, D, TRS_LOWER);
  refuses("no such place", "nowhere", [] { trireme::context("nowhere"); });
  refuses("a zero pivot", "row 1", [] { trireme::plan(ctx, A, TRS_LOWER); });
  refuses("sizes of the matrix", "ptr has another size",
          [] { trireme::matrix(3, 3, ptr, idx, val); });
  refuses("sizes of new values", "size than at creation",
          [] { trireme::matrix(2, 2, ptr, idx, val).set_values(std::vector<double>(1)); });
  refuses("new values of another type", "val has another element type",
          [] { trireme::matrix(2, 2, ptr, idx, val).set_values(std::vector<float>(2)); });
  refuses("another element type", "element type", [] {
    std::vector<float> b(1), x(1);
    plan.solve(b, x);
  });
  refuses("sizes of vectors", "different sizes", [] {
    std::vector<double> b(2), x(1);
    plan.solve(b, x);
  });
}

/* L U = [3 1; 2 0] with its rows exchanged and its first row halved: x = (1, 2) of A = [2 0; 6 2].
 */
void test_given_factors() {
  static const std::array<int, 3> ptr{0, 1, 3};
  static const std::array<int, 3> idx{0, 0, 1};
  const trireme::matrix L(2, 2, ptr, idx, std::array<double, 3>{1, 2. / 3, 1});
  const trireme::matrix U(2, 2, ptr, idx, std::array<double, 3>{3, 1, -2. / 3}, TRS_COPY, TRS_CSC);
  const std::array<std::int32_t, 2> rows{1, 0};
  const std::array<double, 2> scale{1, 0.5};
  const trireme::factors F(L, TRS_UNIT, U, TRS_NONUNIT, rows.data(), nullptr, scale.data());
  trireme::plan plan(trireme::context("serial"), F);
  std::array<double, 2> b{2, 10}, x{};
  plan.solve(b, x);
  verdict("factors with permutations and scalings",
          std::abs(x[0] - 1) < 1e-15 && std::abs(x[1] - 2) < 1e-15);
  refuses("arrays of containers are not taken", "TRS_TAKE frees arrays", [] {
    trireme::matrix taken(2, 2, ptr, idx, std::array<double, 3>{1, 2, 3}, TRS_TAKE);
  });
}

/* Three systems [2 0; 1 4], with values times 1, 2 and 4. */
void test_batches() {
  static const std::array<int, 3> ptr{0, 1, 3};
  static const std::array<int, 3> idx{0, 0, 1};
  const trireme::context ctx("serial");
  const trireme::matrix L(2, 2, ptr, idx, std::array<double, 3>{2, 1, 4});
  static trireme::batch batch(ctx, L, 3, TRS_LOWER);
  std::vector<double> val{2, 1, 4, 4, 2, 8, 8, 4, 16}, b{2, 9, 4, 18, 8, 36}, x(6);
  batch.update(val);
  batch.solve(b, x);
  verdict("a batch",
          x == std::vector<double>{1, 2, 1, 2, 1, 2} && batch.n() == 2 && batch.count() == 3);
  batch.clone().solve(b, b);
  batch.wait();
  verdict("a clone of a batch", x == b);
  verdict("its facts",
          batch.info().count == 3 && batch.description().find("3 systems") != std::string::npos);
  refuses("values of no whole number of systems", "no multiple of the number of systems",
          [] { batch.update(std::vector<double>(8)); });
  refuses("values of another type", "another element type",
          [] { batch.update(std::vector<float>(9)); });
  refuses("too few values", "less than the 3 elements",
          [] { batch.update(std::vector<double>(6)); });
  batch.update(val);
  refuses("right-hand sides of no whole number", "multiple of all systems' rows", [] {
    std::vector<double> y(7);
    batch.solve(y, y);
  });
  const trireme::factors F(L, TRS_NONUNIT,
                           trireme::matrix(2, 2, std::array<int, 3>{0, 1, 2},
                                           std::array<int, 2>{0, 1}, std::array<double, 2>{1, 1}),
                           TRS_NONUNIT);
  trireme::batch both(ctx, F, 2);
  both.update(std::vector<double>{2, 1, 4, 4, 2, 8}, std::vector<double>{1, 1, 2, 2});
  std::vector<double> c{2, 9, 8, 36};
  both.solve(c, c);
  verdict("a batch of factors", c == std::vector<double>{1, 2, 1, 2});
  const trireme::matrix four(1, 1, std::array<int, 2>{0, 1}, std::array<int, 1>{0},
                             std::array<double, 1>{4});
  trireme::batch cholesky(ctx, trireme::factors(four, TRS_FACTOR_IC0), 2);
  cholesky.update_hermitian(std::array<double, 2>{2, 3});
  std::array<double, 2> d{4, 9};
  cholesky.solve(d, d);
  verdict("a batch of L L^H", d == std::array<double, 2>{1, 1});
}

/* After a failed update an object refuses every solve, as in C. */
void test_failed_updates() {
  static const trireme::context ctx("serial");
  static const std::array<int, 3> ptr{0, 1, 2};
  static const std::array<int, 2> idx{0, 1};
  static const trireme::matrix A(2, 2, ptr, idx, std::array<double, 2>{2, 4}),
      zero(2, 2, ptr, idx, std::array<double, 2>{2, 0});
  static trireme::plan plan(ctx, A, TRS_LOWER);
  static trireme::relaxation R(ctx, A, 1);
  static std::array<double, 2> b{2, 8}, x{-1, -1};
  refuses("an update with a zero pivot", "row 1", [] { plan.update(zero); });
  refuses("a plan solves nothing after it", "trs_update of this plan failed",
          [] { plan.solve(b, x); });
  refuses("an update of a relaxation with a zero block", "row 1", [] { R.update(zero); });
  refuses("a relaxation solves nothing after it", "trs_update of this plan failed",
          [] { R.sweep(x.data(), 2, b.data(), 2, 1, TRS_COL_MAJOR); });
  static trireme::factors F(A, TRS_UNIT, A, TRS_NONUNIT);
  static trireme::plan sweeps(ctx, F);
  refuses("a refactorisation with a zero pivot", "row 1", [] { F.refactor(ctx, zero); });
  refuses("plans of the factors solve nothing after it",
          "trs_factors_refactor of this factorisation failed", [] { sweeps.solve(b, x); });
  verdict("nothing was written", x[0] == -1 && x[1] == -1);
  F.refactor(ctx, A);
  sweeps.update(F);
  sweeps.solve(b, x);
  verdict("until a refactorisation succeeds", x[0] == 1 && x[1] == 2);
  plan.update(A);
  plan.solve(b, x);
  verdict("until an update succeeds", x[0] == 1 && x[1] == 2);
  R.update(A);
  R.sweep(x.data(), 2, b.data(), 2, 1, TRS_COL_MAJOR);
  verdict("also of the relaxation", x[0] == 1 && x[1] == 2);
}

/* Kershaw's matrix, of which the upper triangle is stored. */
void test_incomplete_cholesky() {
  const trireme::matrix A(4, 4, std::array<int, 5>{0, 3, 5, 7, 8},
                          std::array<int, 8>{0, 1, 3, 1, 2, 2, 3, 3},
                          std::array<double, 8>{3, -2, 2, 3, -2, 3, -2, 3});
  auto options = trireme::make<trs_factor_options>();
  options.kind = TRS_FACTOR_IC0;
  options.uplo = TRS_UPPER;
  options.shift = 1e-3;
  const trireme::factors F(A, options);
  verdict("one triangle and a shift", F.info().shift > 1e-3 && F.info().nnz_L == 8);
}

}  // namespace

int main() {
  test_types();
  test_new_values();
  test_factors();
  test_given_factors();
  test_batches();
  test_relaxation();
  test_failures();
  test_failed_updates();
  test_incomplete_cholesky();
  return failed;
}
