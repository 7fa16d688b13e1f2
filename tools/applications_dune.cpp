/* applications_dune.cpp - a case of tools/applications: block ILU(0) of a grid in space by
 * Dune::SeqILU or by trireme_dune.hh, with the clock of the process.  ctypes calls dune_run. */
#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <random>
#include <vector>

#include <dune/common/fmatrix.hh>
#include <dune/common/fvector.hh>
#include <dune/istl/bcrsmatrix.hh>
#include <dune/istl/bvector.hh>
#include <dune/istl/preconditioners.hh>

#include <trireme_dune.hh>

namespace {

template <int B>
using matrix = Dune::BCRSMatrix<Dune::FieldMatrix<double, B, B>>;
template <int B>
using vector = Dune::BlockVector<Dune::FieldVector<double, B>>;

double seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/* The point beside r on one of six sides, or -1. */
int beside(int r, int side, int m) {
  const int place[] = {r / (m * m), r / m % m, r % m}, step[] = {m * m, m, 1};
  const int axis = side < 3 ? side : 5 - side;
  if (side < 3) return place[axis] > 0 ? r - step[axis] : -1;
  return place[axis] < m - 1 ? r + step[axis] : -1;
}

/* Flow through a medium whose permeability varies by a thousand. */
template <int B>
matrix<B> medium(int m) {
  const int n = m * m * m;
  const auto rows = static_cast<std::size_t>(n);
  matrix<B> A(rows, rows, 7 * rows, matrix<B>::row_wise);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> small(-0.3, 0.3), decade(-1.5, 1.5);
  std::vector<double> k(rows);
  for (double &value : k) value = std::pow(10.0, decade(random));
  for (auto row = A.createbegin(); row != A.createend(); ++row) {
    const int r = static_cast<int>(row.index());
    for (int side = 0; side < 3; side++)
      if (beside(r, side, m) >= 0) row.insert(static_cast<std::size_t>(beside(r, side, m)));
    row.insert(row.index());
    for (int side = 3; side < 6; side++)
      if (beside(r, side, m) >= 0) row.insert(static_cast<std::size_t>(beside(r, side, m)));
  }
  for (auto row = A.begin(); row != A.end(); ++row) {
    auto &own = (*row)[row.index()];
    own = 0;
    for (auto entry = row->begin(); entry != row->end(); ++entry) {
      if (entry.index() == row.index()) continue;
      const double from = k[row.index()], to = k[entry.index()];
      for (int i = 0; i < B; i++)
        for (int j = 0; j < B; j++)
          (*entry)[i][j] = -2 * from * to / (from + to) * ((i == j) + small(random));
      own -= *entry;
    }
    for (int i = 0; i < B; i++) own[i][i] += 0.01 * k[row.index()];
  }
  return A;
}

/* times: of set-up, of new values, of an application, each the least of some. */
template <int B, class Make, class Again>
void measure(const matrix<B> &A, const Make &make, const Again &again, double *times, double *x) {
  vector<B> v(A.N()), d(A.N());
  d = 1;
  for (int part = 0; part < 3; part++) times[part] = INFINITY;
  const auto timed = [&](int part, int count, const auto &call) {
    const double begin = seconds();
    for (int k = 0; k < count; k++) call();
    times[part] = std::min(times[part], (seconds() - begin) / count);
  };
  for (int turn = 0; turn < 5; turn++) {
    decltype(make()) made;
    timed(0, 1, [&] { made = make(); });
    timed(1, 1, [&] { again(made); });
    timed(2, 20, [&] { made->apply(v, d); });
  }
  for (std::size_t i = 0; i < A.N(); i++)
    for (int r = 0; r < B; r++) *x++ = v[i][r];
}

template <int B>
void run(int ours, int m, double *times, double *x) {
  using M = matrix<B>;
  using V = vector<B>;
  const M A = medium<B>(m);
  if (ours) {
    using ilu = trireme::dune_ilu<M, V>;
    const trireme::context one("serial");
    measure<B>(
        A, [&] { return std::make_unique<ilu>(one, A); }, [&](auto &made) { made->update(A); },
        times, x);
  } else { /* which has no new values: it is made anew */
    using ilu = Dune::SeqILU<M, V, V>;
    const auto make = [&] { return std::make_unique<ilu>(A, 1.0); };
    measure<B>(A, make, [&](auto &made) { made.reset(), made = make(); }, times, x);
  }
}

}  // namespace

extern "C" int dune_run(int ours, int block, int m, double *times, double *x) {
  switch (block) {
    case 1:
      run<1>(ours, m, times, x);
      return 0;
    case 2:
      run<2>(ours, m, times, x);
      return 0;
    case 3:
      run<3>(ours, m, times, x);
      return 0;
    case 4:
      run<4>(ours, m, times, x);
      return 0;
    case 5:
      run<5>(ours, m, times, x);
      return 0;
  }
  return 1;
}
