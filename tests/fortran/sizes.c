/* sizes.c - the structures of trireme.h as the C compiler lays them out. */
#include <trireme.h>

size_t size_in_c(int k);
size_t last_in_c(int k);

static const size_t table[][2] = {
    {sizeof(trs_error), offsetof(trs_error, message)},
    {sizeof(trs_matrix_info), offsetof(trs_matrix_info, largest_part)},
    {sizeof(trs_read_options), offsetof(trs_read_options, max_bytes)},
    {sizeof(trs_factor_options), offsetof(trs_factor_options, shift)},
    {sizeof(trs_factors_info), offsetof(trs_factors_info, shift)},
    {sizeof(trs_options), offsetof(trs_options, distributed)},
    {sizeof(trs_plan_info), offsetof(trs_plan_info, device)},
    {sizeof(trs_plan_share), offsetof(trs_plan_share, ncolumns)},
    {sizeof(trs_relax_options), offsetof(trs_relax_options, variant)},
    {sizeof(trs_sweep_options), offsetof(trs_sweep_options, residuals)},
    {sizeof(trs_relax_info), offsetof(trs_relax_info, partition)},
    {sizeof(trs_backward_error), offsetof(trs_backward_error, range_column)},
};

size_t size_in_c(int k) { return table[k][0]; }

size_t last_in_c(int k) { return table[k][1]; }
