/* trireme.hpp - trireme.h for C++17: objects that destroy themselves, arrays that know their type
 * and size, and failures as exceptions.  Header only; it adds no call and no copy.
 *
 *      trireme::context ctx("auto");
 *      trireme::matrix L(n, n, ptr, idx, val);           // CSR, any std::vector or view of arrays
 *      trireme::plan plan = trireme::triangular_solve_inspect(ctx, L, TRS_LOWER);
 *      trireme::triangular_solve(plan, b, x);
 *
 * Every function of trireme.h takes object.get().  A failure throws trireme::error.  A program
 * without exceptions defines TRIREME_FAIL(status, message, row) before it includes the header, a
 * statement that does not return; or it calls the functions of trireme.h, which return a status. */
#ifndef TRIREME_HPP
#define TRIREME_HPP

#if defined(_MSVC_LANG) ? _MSVC_LANG < 201703L : __cplusplus < 201703L
#error "trireme.hpp needs C++17: compile with -std=c++17 or later, or include trireme.h"
#endif

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "trireme.h"

#ifndef TRIREME_FAIL
#include <stdexcept>
#define TRIREME_FAIL(status, message, row) throw ::trireme::error(status, message, row)
#define TRIREME_THROWS 1
#endif

namespace trireme {

/* ---- Failures ---- */

#ifdef TRIREME_THROWS
class error : public std::runtime_error {
 public:
  error(trs_status status, const char *message, std::int64_t row)
      : std::runtime_error(message), status_(status), row_(row) {}
  trs_status status() const noexcept { return status_; }
  std::int64_t row() const noexcept { return row_; } /* the row at fault, or -1 */

 private:
  trs_status status_;
  std::int64_t row_;
};
#endif

inline void check(trs_status status) {
  if (status != TRS_SUCCESS) TRIREME_FAIL(status, trs_last_error()->message, trs_last_error()->row);
}

inline void require(bool holds, const char *message) {
  if (!holds) TRIREME_FAIL(TRS_ERROR_ARGUMENT, message, -1);
}

/* ---- Types ---- */

template <class T>
struct scalar_of;
template <>
struct scalar_of<float> : std::integral_constant<trs_scalar, TRS_FLOAT> {};
template <>
struct scalar_of<double> : std::integral_constant<trs_scalar, TRS_DOUBLE> {};
template <>
struct scalar_of<std::complex<float>> : std::integral_constant<trs_scalar, TRS_SCOMPLEX> {};
template <>
struct scalar_of<std::complex<double>> : std::integral_constant<trs_scalar, TRS_DCOMPLEX> {};

/* An array that somebody else owns: std::vector, std::array, std::span and others convert. */
template <class T>
class view {
 public:
  constexpr view(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <class C, class = std::enable_if_t<
                         std::is_convertible_v<decltype(std::declval<C &>().data()), T *>>>
  constexpr view(C &&container) noexcept : data_(container.data()), size_(container.size()) {}
  constexpr T *data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }

 private:
  T *data_;
  std::size_t size_;
};

/* A structure of options or information with its struct_size set. */
template <class S>
S make() noexcept {
  S made{};
  made.struct_size = sizeof made;
  return made;
}

/* ---- Objects ---- */

template <class T, void (*destroy)(T *)>
class handle {
 public:
  handle() noexcept = default;
  explicit handle(T *object) noexcept : object_(object) {}
  T *get() const noexcept { return object_.get(); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  struct deleter {
    void operator()(T *object) const noexcept { destroy(object); }
  };
  std::unique_ptr<T, deleter> object_;
};

class context : public handle<trs_context, trs_context_destroy> {
 public:
  explicit context(const char *where = "auto") : handle(create(where)) {}
  int threads() const noexcept { return trs_context_threads(get()); }

 private:
  static trs_context *create(const char *where) {
    trs_context *made = nullptr;
    check(trs_context_create(&made, where));
    return made;
  }
};

class matrix : public handle<trs_matrix, trs_matrix_destroy> {
 public:
  /* Compressed rows (TRS_CSR) or columns.  Pointers and indices are of 32 or 64 bits and count from
   * `base`, 0 or 1.  The arrays are copied, or borrowed: they must then outlive every object that
   * uses them, which temporaries do not.  Containers free their arrays themselves: TRS_TAKE fails.
   */
  template <class P, class I, class V>
  matrix(std::int64_t nrows, std::int64_t ncols, const P &ptr, const I &idx, const V &val,
         trs_ownership ownership = TRS_COPY, trs_format format = TRS_CSR, int base = 0)
      : handle(create(nrows, ncols, of(ptr), of(idx), of(val), ownership, format, base)),
        count_(of(val).size()) {}
  explicit matrix(const char *path, const trs_read_options *options = nullptr)
      : handle(read(path, options)) {}
  explicit matrix(trs_matrix *taken) noexcept : handle(taken) {}

  /* New values in the order of the arrays given before. */
  template <class V>
  void set_values(const V &val) {
    const auto values = of(val);
    using value = std::remove_cv_t<std::remove_pointer_t<decltype(values.data())>>;
    require(scalar_of<value>::value == info().scalar,
            "val has another element type than the matrix");
    require(count_ == unknown || values.size() == count_, "val has another size than at creation");
    check(trs_matrix_set_values(get(), values.data()));
  }
  trs_matrix_info info() const {
    auto made = make<trs_matrix_info>();
    check(trs_matrix_get_info(get(), &made));
    return made;
  }

 private:
  template <class C>
  static auto of(const C &container) {
    return view<const std::remove_pointer_t<decltype(container.data())>>(container);
  }
  template <class I>
  static constexpr int wide() {
    static_assert(std::is_integral_v<I> && (sizeof(I) == 4 || sizeof(I) == 8),
                  "pointers and indices are integers of 32 or 64 bits");
    return sizeof(I) == 8;
  }
  template <class P, class I, class V>
  static trs_matrix *create(std::int64_t nrows, std::int64_t ncols, view<const P> ptr,
                            view<const I> idx, view<const V> val, trs_ownership ownership,
                            trs_format format, int base) {
    const auto vectors = static_cast<std::size_t>(format == TRS_CSR ? nrows : ncols);
    require(ownership != TRS_TAKE,
            "TRS_TAKE frees arrays, which their containers free again: TRS_COPY or TRS_BORROW");
    require(nrows >= 0 && ncols >= 0 && ptr.size() == vectors + 1,
            "ptr has another size than one more than the rows (CSR) or columns (CSC)");
    require(idx.size() == val.size() &&
                static_cast<std::size_t>(ptr.data()[vectors] - ptr.data()[0]) == idx.size(),
            "idx or val has another size than ptr says");
    trs_matrix *made = nullptr;
    check(trs_matrix_create(&made, format, scalar_of<V>::value, nrows, ncols,
                            (wide<P>() ? TRS_PTR64 : TRS_PTR32) |
                                (wide<I>() ? TRS_IDX64 : TRS_IDX32) |
                                (base ? TRS_BASE1 : TRS_BASE0),
                            ptr.data(), idx.data(), val.data(), ownership));
    return made;
  }
  static trs_matrix *read(const char *path, const trs_read_options *options) {
    trs_matrix *made = nullptr;
    check(trs_matrix_read(&made, path, options));
    return made;
  }

  static constexpr auto unknown = static_cast<std::size_t>(-1);
  std::size_t count_ = unknown; /* values given at creation; repeated entries make them more */
};

class factors : public handle<trs_factors, trs_factors_destroy> {
 public:
  explicit factors(const matrix &A, trs_factor_kind kind = TRS_FACTOR_LU)
      : factors(A, with_kind(kind)) {}
  factors(const matrix &A, const trs_factor_options &options) : handle(create(A, options)) {}
  /* Factors made elsewhere; see trs_factors_create.  Permutations and scalings have a number for
   * each row, and are copied; nullptr: the identity, or ones. */
  factors(const matrix &L, trs_diag diag_L, const matrix &U, trs_diag diag_U,
          const std::int32_t *row_perm = nullptr, const std::int32_t *col_perm = nullptr,
          const double *row_scale = nullptr, const double *col_scale = nullptr)
      : handle(join(L, diag_L, U, diag_U, row_perm, col_perm, row_scale, col_scale)) {}
  explicit factors(trs_factors *taken) noexcept : handle(taken) {}

  trs_factors_info info() const {
    auto made = make<trs_factors_info>();
    check(trs_factors_get_info(get(), &made));
    return made;
  }

  /* An estimate of |A|_1 |A^-1|_1. */
  double condition() const {
    double made = 0;
    check(trs_factors_condition(&made, get()));
    return made;
  }

  /* L and U of new values of A, on the threads of ctx or, of incomplete factors, where A lies;
   * plans follow by plan::update. */
  trs_pivots refactor(const context &ctx, const matrix &A) {
    auto made = make<trs_pivots>();
    check(trs_factors_refactor(get(), &made, ctx.get(), A.get()));
    return made;
  }

 private:
  static trs_factor_options with_kind(trs_factor_kind kind) {
    auto options = make<trs_factor_options>();
    options.kind = kind;
    return options;
  }
  static trs_factors *create(const matrix &A, const trs_factor_options &options) {
    trs_factors *made = nullptr;
    check(trs_factor(&made, A.get(), &options));
    return made;
  }
  static trs_factors *join(const matrix &L, trs_diag diag_L, const matrix &U, trs_diag diag_U,
                           const std::int32_t *row_perm, const std::int32_t *col_perm,
                           const double *row_scale, const double *col_scale) {
    trs_factors *made = nullptr;
    check(trs_factors_create(&made, L.get(), diag_L, U.get(), diag_U, row_perm, col_perm, row_scale,
                             col_scale));
    return made;
  }
};

/* What plans of one system, of a batch and of relaxation have in common. */
class solver : public handle<trs_plan, trs_plan_destroy> {
 public:
  solver() noexcept = default;
  explicit solver(trs_plan *taken) noexcept : handle(taken) {}

  /* For what was launched on a GPU. */
  void wait() const { check(trs_plan_wait(get())); }
  std::string description() const {
    std::string text(trs_plan_describe(get(), nullptr, 0), '\0');
    trs_plan_describe(get(), &text[0], text.size() + 1);
    return text;
  }

 protected:
  template <class C>
  using value_of = std::remove_const_t<std::remove_pointer_t<decltype(std::declval<C &>().data())>>;

  static trs_plan *copy(trs_plan *origin) {
    trs_plan *made = nullptr;
    check(trs_plan_clone(&made, origin));
    return made;
  }
};

/* A plan solves one system at a time. */
class plan : public solver {
 public:
  plan() noexcept = default;
  plan(const context &ctx, const matrix &A, trs_uplo uplo, trs_trans trans = TRS_NO_TRANS,
       trs_diag diag = TRS_NONUNIT, const trs_options *options = nullptr)
      : solver(analyze(ctx, A, uplo, trans, diag, options)) {
    describe(A.info());
  }
  plan(const context &ctx, const factors &F, trs_trans trans = TRS_NO_TRANS,
       const trs_options *options = nullptr)
      : solver(analyze(ctx, F, trans, options)) {
    const trs_factors_info info = F.info();
    n_ = info.n;
    scalar_ = info.scalar;
  }

  /* For another thread: shares what solves only read, and has a workspace of its own. */
  plan clone() const {
    plan made(copy(get()));
    made.n_ = n_;
    made.scalar_ = scalar_;
    return made;
  }

  void update(const matrix &A) { check(trs_update(get(), A.get())); }
  void update(const factors &F) { check(trs_update_factors(get(), F.get())); }

  /* x and b of n numbers, or n x nrhs, column by column.  They may be one array. */
  template <class B, class X>
  void solve(const B &b, X &&x) const {
    const view<const value_of<B>> from(b);
    const view<value_of<X>> to(x);
    require(scalar_of<value_of<B>>::value == scalar_ && scalar_of<value_of<X>>::value == scalar_,
            "b or x has another element type than the matrix");
    require(from.size() == to.size() &&
                (n_ ? from.size() % static_cast<std::size_t>(n_) == 0 : from.size() == 0),
            "b and x have different sizes, or none that is a multiple of the matrix's rows");
    solve(to.data(), n_, from.data(), n_, n_ ? static_cast<std::int64_t>(from.size()) / n_ : 0,
          TRS_COL_MAJOR);
  }
  /* As trs_solve: any layout, and device memory. */
  void solve(void *x, std::int64_t ldx, const void *b, std::int64_t ldb, std::int64_t nrhs,
             trs_layout layout) const {
    check(trs_solve(get(), x, ldx, b, ldb, nrhs, layout));
  }

  std::int64_t n() const noexcept { return n_; }
  trs_plan_info info() const {
    auto made = make<trs_plan_info>();
    check(trs_plan_get_info(get(), &made));
    return made;
  }

 private:
  explicit plan(trs_plan *taken) noexcept : solver(taken) {}

  void describe(const trs_matrix_info &info) noexcept {
    n_ = info.nrows;
    scalar_ = info.scalar;
  }
  static trs_plan *analyze(const context &ctx, const matrix &A, trs_uplo uplo, trs_trans trans,
                           trs_diag diag, const trs_options *options) {
    trs_plan *made = nullptr;
    check(trs_analyze(&made, ctx.get(), A.get(), uplo, trans, diag, options));
    return made;
  }
  static trs_plan *analyze(const context &ctx, const factors &F, trs_trans trans,
                           const trs_options *options) {
    trs_plan *made = nullptr;
    check(trs_analyze_factors(&made, ctx.get(), F.get(), trans, options));
    return made;
  }

  std::int64_t n_ = 0;
  trs_scalar scalar_ = TRS_SCALAR_DEFAULT;
};

/* Many systems with the pattern of a triangle or of factors, each with values of its own. */
class batch : public solver {
 public:
  batch() noexcept = default;
  batch(const context &ctx, const matrix &A, std::int64_t count, trs_uplo uplo,
        trs_trans trans = TRS_NO_TRANS, trs_diag diag = TRS_NONUNIT,
        const trs_batch_options *options = nullptr)
      : batch(create(ctx, A, count, uplo, trans, diag, options), A.info().scalar) {}
  batch(const context &ctx, const factors &F, std::int64_t count, trs_trans trans = TRS_NO_TRANS,
        const trs_batch_options *options = nullptr)
      : batch(create(ctx, F, count, trans, options), F.info().scalar) {}

  /* For another thread, as a plan's. */
  batch clone() const { return batch(copy(get()), scalar_); }

  /* The values of all systems, one after the other; of factors those of L and of U, or of L alone
   * where U = L^H.  An error of a zero pivot says that the other systems can be solved. */
  template <class V>
  void update(const V &val) {
    check(trs_batch_update(get(), of(val), stride(view<const value_of<const V>>(val).size())));
  }
  template <class L, class U>
  void update(const L &L_val, const U &U_val) {
    update_factors(of(L_val), view<const value_of<const L>>(L_val).size(), of(U_val),
                   view<const value_of<const U>>(U_val).size());
  }
  template <class L>
  void update_hermitian(const L &L_val) {
    update_factors(of(L_val), view<const value_of<const L>>(L_val).size(), nullptr, 0);
  }

  /* x and b: for each system n numbers, or n x nrhs, column by column.  They may be one array. */
  template <class B, class X>
  void solve(const B &b, X &&x) const {
    const view<const value_of<B>> from(b);
    const view<value_of<X>> to(x);
    const std::int64_t all = n_ * count_, size = static_cast<std::int64_t>(from.size());
    require(scalar_of<value_of<B>>::value == scalar_ && scalar_of<value_of<X>>::value == scalar_,
            "b or x has another element type than the batch");
    require(from.size() == to.size() && (all ? size % all == 0 : size == 0),
            "b and x have different sizes, or none that is a multiple of all systems' rows");
    check(trs_batch_solve(get(), to.data(), n_, 0, from.data(), n_, 0, all ? size / all : 0,
                          TRS_COL_MAJOR));
  }

  std::int64_t n() const noexcept { return n_; }
  std::int64_t count() const noexcept { return count_; }
  trs_batch_info info() const {
    auto made = make<trs_batch_info>();
    check(trs_batch_get_info(get(), &made));
    return made;
  }

 private:
  batch(trs_plan *taken, trs_scalar scalar) : solver(taken), scalar_(scalar) {
    const trs_batch_info own = info();
    n_ = own.n;
    count_ = own.count;
  }
  template <class V>
  const void *of(const V &val) const {
    require(scalar_of<std::remove_const_t<value_of<const V>>>::value == scalar_,
            "the values have another element type than the batch");
    return val.data();
  }
  std::int64_t stride(std::size_t size) const {
    require(count_ ? size % static_cast<std::size_t>(count_) == 0 : size == 0,
            "the number of values is no multiple of the number of systems");
    return count_ ? static_cast<std::int64_t>(size) / count_ : 0;
  }
  void update_factors(const void *L_val, std::size_t L_size, const void *U_val,
                      std::size_t U_size) {
    check(trs_batch_update_factors(get(), L_val, stride(L_size), U_val, stride(U_size)));
  }
  static trs_plan *create(const context &ctx, const matrix &A, std::int64_t count, trs_uplo uplo,
                          trs_trans trans, trs_diag diag, const trs_batch_options *options) {
    trs_plan *made = nullptr;
    check(trs_batch_create(&made, ctx.get(), A.get(), uplo, trans, diag, count, options));
    return made;
  }
  static trs_plan *create(const context &ctx, const factors &F, std::int64_t count, trs_trans trans,
                          const trs_batch_options *options) {
    trs_plan *made = nullptr;
    check(trs_batch_create_factors(&made, ctx.get(), F.get(), trans, count, options));
    return made;
  }

  std::int64_t n_ = 0, count_ = 0;
  trs_scalar scalar_ = TRS_SCALAR_DEFAULT;
};

/* Multicolour relaxation of a block system. */
class relaxation : public solver {
 public:
  relaxation() noexcept = default;
  relaxation(const context &ctx, const matrix &A, int block_size,
             const trs_relax_options *options = nullptr)
      : solver(create(ctx, A, block_size, options)) {}

  /* For another thread, as a plan's. */
  relaxation clone() const { return relaxation(copy(get())); }

  void update(const matrix &A) { check(trs_update(get(), A.get())); }
  void sweep(void *x, std::int64_t ldx, const void *b, std::int64_t ldb, std::int64_t nrhs,
             trs_layout layout, const trs_sweep_options *options = nullptr) {
    check(trs_relax_sweep(get(), x, ldx, b, ldb, nrhs, layout, options));
  }
  trs_relax_info info() const {
    auto made = make<trs_relax_info>();
    check(trs_relax_get_info(get(), &made));
    return made;
  }

 private:
  explicit relaxation(trs_plan *taken) noexcept : solver(taken) {}
  static trs_plan *create(const context &ctx, const matrix &A, int block_size,
                          const trs_relax_options *options) {
    trs_plan *made = nullptr;
    check(trs_relax_create(&made, ctx.get(), A.get(), block_size, options));
    return made;
  }
};

/* ---- Names of the C++ proposal SparseBLAS: inspect once, solve many times ---- */

inline plan triangular_solve_inspect(const context &ctx, const matrix &A, trs_uplo uplo,
                                     trs_diag diag = TRS_NONUNIT,
                                     const trs_options *options = nullptr) {
  return plan(ctx, A, uplo, TRS_NO_TRANS, diag, options);
}

template <class B, class X>
void triangular_solve(const plan &inspected, const B &b, X &&x) {
  inspected.solve(b, std::forward<X>(x));
}

}  // namespace trireme

#endif
