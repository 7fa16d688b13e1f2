/* dune.cpp - trireme_dune.hh beside Dune::SeqILU: the same vectors, with blocks of 1 to 5. */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <dune/common/fmatrix.hh>
#include <dune/common/fvector.hh>
#include <dune/istl/bcrsmatrix.hh>
#include <dune/istl/bvector.hh>
#include <dune/istl/preconditioners.hh>

#include <trireme_dune.hh>

namespace {

void require(bool holds, const char *what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

template <int B>
struct problem {
  using matrix = Dune::BCRSMatrix<Dune::FieldMatrix<double, B, B>>;
  using vector = Dune::BlockVector<Dune::FieldVector<double, B>>;
};

/* Points of a grid; entries: so many blocks are announced, 0: none, so that each row has memory of
 * its own. */
template <int B>
typename problem<B>::matrix grid(int m, std::size_t entries, std::mt19937 &random) {
  using M = typename problem<B>::matrix;
  std::uniform_real_distribution<double> small(-0.2, 0.2);
  const auto n = static_cast<std::size_t>(m * m);
  M A = entries ? M(n, n, entries, M::row_wise) : M(n, n, M::row_wise);
  for (auto row = A.createbegin(); row != A.createend(); ++row) {
    const int i = static_cast<int>(row.index());
    if (i >= m) row.insert(static_cast<std::size_t>(i - m));
    if (i % m) row.insert(static_cast<std::size_t>(i - 1));
    row.insert(static_cast<std::size_t>(i));
    if (i % m < m - 1) row.insert(static_cast<std::size_t>(i + 1));
    if (i + m < m * m) row.insert(static_cast<std::size_t>(i + m));
  }
  for (auto row = A.begin(); row != A.end(); ++row)
    for (auto entry = row->begin(); entry != row->end(); ++entry)
      for (int r = 0; r < B; r++)
        for (int c = 0; c < B; c++)
          (*entry)[r][c] =
              small(random) + (r == c ? (entry.index() == row.index() ? 4.0 + B : -1.0) : 0.0);
  return A;
}

template <int B>
void compare(trireme::dune_ilu<typename problem<B>::matrix, typename problem<B>::vector> &ours,
             const typename problem<B>::matrix &A) {
  using V = typename problem<B>::vector;
  Dune::SeqILU<typename problem<B>::matrix, V, V> theirs(A, 1.0);
  V b(A.N()), x(A.N()), y(A.N());
  for (std::size_t i = 0; i < A.N(); i++)
    for (int r = 0; r < B; r++) b[i][r] = std::sin(static_cast<double>(i * B) + r);
  x = 0;
  y = 0;
  ours.apply(x, b);
  theirs.apply(y, b);
  y -= x;
  require(y.two_norm() < 1e-12 * x.two_norm(), "x differs from that of Dune::SeqILU");
}

template <int B>
void check(const trireme::context &ctx) {
  std::mt19937 random(B);
  const int m = 17;
  for (const std::size_t entries : {std::size_t(5 * m * m), std::size_t(0)}) {
    auto A = grid<B>(m, entries, random);
    trireme::dune_ilu<typename problem<B>::matrix, typename problem<B>::vector> ours(ctx, A);
    compare<B>(ours, A);
    for (auto row = A.begin(); row != A.end(); ++row)
      for (auto entry = row->begin(); entry != row->end(); ++entry) *entry *= 3;
    A[7][7][B - 1][0] += 0.5;
    ours.update(A);
    compare<B>(ours, A);
  }
}

}  // namespace

int main() {
  const trireme::context one("serial"), two("threads:2");
  for (const trireme::context *ctx : {&one, &two}) {
    check<1>(*ctx);
    check<2>(*ctx);
    check<3>(*ctx);
    check<4>(*ctx);
    check<5>(*ctx);
  }
  return 0;
}
