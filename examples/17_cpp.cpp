/* 17_cpp.cpp - C++17: new values in each time step, one analysis; a failure is an exception. */
#include <cstdio>
#include <vector>

#include <trireme.hpp>

int main() try {
  const std::int64_t n = 100000;
  std::vector<std::int32_t> ptr{0}, idx;
  std::vector<double> val, b(n, 1.0), x(n);
  for (std::int32_t i = 0; i < n; i++) { /* each row reads the one before and one far above */
    if (i >= 300) idx.push_back(i - 300);
    if (i >= 1) idx.push_back(i - 1);
    idx.push_back(i);
    ptr.push_back(static_cast<std::int32_t>(idx.size()));
  }
  val.assign(idx.size(), -1.0);

  const trireme::context ctx;
  trireme::matrix L(n, n, ptr, idx, val, TRS_BORROW);
  trireme::plan plan;
  for (int step = 1; step <= 3; step++) {
    for (std::int64_t i = 0; i < n; i++) val[static_cast<std::size_t>(ptr[i + 1] - 1)] = 2.0 + step;
    if (plan)
      plan.update(L); /* reads the borrowed values again */
    else
      plan = trireme::triangular_solve_inspect(ctx, L, TRS_LOWER);
    trireme::triangular_solve(plan, b, x);
    std::printf("step %d: x ends in %.6f\n", step, x.back());
  }
  std::printf("%s\n", plan.description().c_str());
  return x.back() > 0 ? 0 : 1;
} catch (const trireme::error &e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
