/* mpi_sizes.c - the structures of trireme_mpi.h as the C compiler lays them out. */
#include <trireme_mpi.h>

size_t mpi_size_in_c(int k);

size_t mpi_size_in_c(int k) {
  static const size_t sizes[] = {sizeof(trs_mpi_options), sizeof(trs_mpi_blocks),
                                 sizeof(trs_mpi_stats), sizeof(trs_mpi_relax_info),
                                 sizeof(trs_mpi_rows)};
  return sizes[k];
}
