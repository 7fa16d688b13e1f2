/* trireme_dune.hh - block ILU(0) as a preconditioner of DUNE-ISTL, in the place of Dune::SeqILU:
 *
 *      trireme::context ctx("serial");
 *      trireme::dune_ilu<Matrix, Vector> preconditioner(ctx, A);   // BCRSMatrix of FieldMatrix
 *      preconditioner.update(A);                                   // new values, same pattern
 *
 * It keeps ctx alive, and copies A.  Failures are exceptions of trireme.hpp. */
#ifndef TRIREME_DUNE_HH
#define TRIREME_DUNE_HH

#include <vector>

#include <dune/istl/preconditioner.hh>

#include "trireme.hpp"

namespace trireme {

template <class M, class X, class Y = X>
class dune_ilu : public Dune::Preconditioner<X, Y> {
  using block = typename M::block_type;
  using number = typename M::field_type;
  static_assert(block::rows == block::cols &&
                    sizeof(block) == block::rows * block::cols * sizeof(number),
                "the blocks are square arrays");

 public:
  dune_ilu(const context &ctx, const M &A, trs_factor_kind kind = TRS_FACTOR_BILU0,
           trs_options options = make<trs_options>())
      : n_(static_cast<std::int64_t>(A.N()) * block::rows) {
    auto how = make<trs_factor_options>();
    how.kind = kind;
    how.block_size = block::rows;
    if (!options.method) options.method = "blocks";
    trs_matrix *lent = nullptr;
    trs_factors *F = nullptr;
    trs_plan *made = nullptr;
    take(A);
    blocks_.ownership = TRS_BORROW;
    check(trs_matrix_create_bsr(&lent, &blocks_));
    const matrix own(lent);
    check(trs_factor(&F, own.get(), &how));
    const factors kept(F);
    check(trs_analyze_factors(&made, ctx.get(), F, TRS_NO_TRANS, &options));
    plan_ = handle<trs_plan, trs_plan_destroy>(made);
  }
  void update(const M &A) { check(trs_update_bsr(plan_.get(), take(A))); }

  void pre(X &, Y &) override {}
  void apply(X &v, const Y &d) override {
    check(trs_solve(plan_.get(), &v[0][0], n_, &d[0][0], n_, 1, TRS_COL_MAJOR));
  }
  void post(X &) override {}
  Dune::SolverCategory::Category category() const override {
    return Dune::SolverCategory::sequential;
  }

 private:
  /* Where A has its blocks in one array the call reads them there. */
  const trs_blocks *take(const M &A) {
    bool joined = true;
    ptr_.assign(1, 0);
    for (std::size_t i = 0; i < A.N(); i++) {
      joined &= A[i].getptr() == A[0].getptr() + ptr_[i] &&
                A[i].getindexptr() == A[0].getindexptr() + ptr_[i];
      ptr_.push_back(ptr_[i] + static_cast<std::int64_t>(A[i].getsize()));
    }
    idx_.clear();
    val_.clear();
    for (std::size_t i = 0; !joined && i < A.N(); i++) {
      idx_.insert(idx_.end(), A[i].getindexptr(), A[i].getindexptr() + A[i].getsize());
      val_.insert(val_.end(), A[i].getptr(), A[i].getptr() + A[i].getsize());
    }
    blocks_ = make<trs_blocks>();
    blocks_.scalar = scalar_of<number>::value;
    blocks_.block_size = block::rows;
    blocks_.nrows = static_cast<std::int64_t>(A.N());
    blocks_.layout = TRS_ROW_MAJOR;
    blocks_.indexing = TRS_PTR64 | TRS_IDX64;
    blocks_.ptr = ptr_.data();
    blocks_.idx = joined && A.N() ? A[0].getindexptr() : idx_.data();
    blocks_.val = joined && A.N() ? static_cast<const void *>(A[0].getptr()) : val_.data();
    return &blocks_;
  }

  std::int64_t n_;
  handle<trs_plan, trs_plan_destroy> plan_;
  trs_blocks blocks_;
  std::vector<std::int64_t> ptr_;
  std::vector<typename M::size_type> idx_;
  std::vector<block> val_;
};

}  // namespace trireme
#endif
