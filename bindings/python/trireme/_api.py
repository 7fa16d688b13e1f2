"""trireme.h for ctypes.  Written by bindings/python/generate_api: change the header, then run it."""

import ctypes as C
from typing import Any, Dict, List, Tuple

trs_progress = C.CFUNCTYPE(None, C.c_void_p, C.c_char_p, C.c_double)
trs_values_callback = C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p)

# trs_status
TRS_SUCCESS = 0
TRS_ERROR_ARGUMENT = 1
TRS_ERROR_MEMORY = 2
TRS_ERROR_FILE = 3
TRS_ERROR_FORMAT = 4
TRS_ERROR_STRUCTURE = 5
TRS_ERROR_ZERO_PIVOT = 6
TRS_ERROR_NOT_FINITE = 7
TRS_ERROR_UNSUPPORTED = 8
TRS_ERROR_STALLED = 9
TRS_ERROR_INTERNAL = 10
TRS_ERROR_CANCELLED = 11
TRS_ERROR_DEVICE = 12
TRS_ERROR_BUSY = 13

# trs_context_kind
TRS_KIND_NONE = 0
TRS_KIND_AUTO = 1
TRS_KIND_THREADS = 2
TRS_KIND_GPU = 3
TRS_KIND_GPUS = 4
TRS_KIND_OPENCL = 5

# trs_scalar
TRS_SCALAR_DEFAULT = 0
TRS_FLOAT = 1
TRS_DOUBLE = 2
TRS_SCOMPLEX = 3
TRS_DCOMPLEX = 4

# trs_format
TRS_CSR = 0
TRS_CSC = 1

# trs_uplo
TRS_GENERAL = 0
TRS_LOWER = 1
TRS_UPPER = 2

# trs_trans
TRS_NO_TRANS = 0
TRS_TRANS = 1
TRS_CONJ_TRANS = 2

# trs_diag
TRS_NONUNIT = 0
TRS_UNIT = 1

# trs_layout
TRS_COL_MAJOR = 0
TRS_ROW_MAJOR = 1

# trs_ownership
TRS_COPY = 0
TRS_BORROW = 1
TRS_TAKE = 2

# TRS_PTR64
TRS_PTR64 = 0
TRS_PTR32 = 1
TRS_IDX32 = 0
TRS_IDX64 = 2
TRS_BASE0 = 0
TRS_BASE1 = 4

# trs_factor_kind
TRS_FACTOR_LU = 0
TRS_FACTOR_ILU0 = 1
TRS_FACTOR_IC0 = 2
TRS_FACTOR_TRIANGLE = 3
TRS_FACTOR_BILU0 = 4
TRS_FACTOR_BIC0 = 5
TRS_FACTOR_DILU = 6

# trs_order
TRS_ORDER_DEFAULT = 0
TRS_ORDER_ND = 1
TRS_ORDER_AMD = 2
TRS_ORDER_NATURAL = 3
TRS_ORDER_RCM = 4
TRS_ORDER_COLOUR = 5
TRS_ORDER_COLAMD = 6

# trs_content
TRS_CONTENT_MATRIX = 0
TRS_CONTENT_FACTORS = 1

# trs_store
TRS_STORE_DEFAULT = 0
TRS_STORE_MIXED = 1
TRS_STORE_DOUBLE = 2
TRS_STORE_FLOAT = 3
TRS_STORE_HALF = 4
TRS_STORE_BFLOAT = 5

# TRS_RELAX_MOST_BLOCK
TRS_RELAX_MOST_BLOCK = 32

# trs_sweep_direction
TRS_SWEEP_FORWARD = 0
TRS_SWEEP_BACKWARD = 1
TRS_SWEEP_SYMMETRIC = 2

# trs_range
TRS_RANGE_FINITE = 0
TRS_RANGE_RHS = 1
TRS_RANGE_MATRIX = 2
TRS_RANGE_PIVOT = 3
TRS_RANGE_OVERFLOW = 4
TRS_RANGE_UNEXPLAINED = 5


class trs_error(C.Structure):
    _fields_ = [
        ("status", C.c_int),
        ("row", C.c_int64),
        ("message", C.c_char_p),
    ]


class trs_blocks(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("scalar", C.c_int),
        ("block_size", C.c_int),
        ("nrows", C.c_int64),
        ("ncols", C.c_int64),
        ("layout", C.c_int),
        ("indexing", C.c_int),
        ("ptr", C.c_void_p),
        ("idx", C.c_void_p),
        ("val", C.c_void_p),
        ("ownership", C.c_int),
    ]


class trs_matrix_info(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("format", C.c_int),
        ("scalar", C.c_int),
        ("nrows", C.c_int64),
        ("ncols", C.c_int64),
        ("nnz", C.c_int64),
        ("nlower", C.c_int64),
        ("nupper", C.c_int64),
        ("ndiagonal", C.c_int64),
        ("missing_diagonal", C.c_int64),
        ("longest_row", C.c_int64),
        ("bytes", C.c_int64),
        ("largest_part", C.c_int64),
        ("block_size", C.c_int),
    ]


class trs_read_options(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("context", C.c_void_p),
        ("allow_nonfinite", C.c_int),
        ("seed", C.c_uint64),
        ("scalar", C.c_int),
        ("progress", trs_progress),
        ("progress_user", C.c_void_p),
        ("max_bytes", C.c_int64),
    ]


class trs_factor_options(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("kind", C.c_int),
        ("order", C.c_int),
        ("tree_leaves", C.c_int),
        ("pivot_threshold", C.c_double),
        ("no_equilibration", C.c_int),
        ("add_diagonal", C.c_int),
        ("progress", trs_progress),
        ("progress_user", C.c_void_p),
        ("block_size", C.c_int),
        ("uplo", C.c_int),
        ("shift", C.c_double),
        ("levels", C.c_int),
    ]


class trs_pivots(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("least_share", C.c_double),
        ("row", C.c_int64),
    ]


class trs_factors_info(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("kind", C.c_int),
        ("order", C.c_int),
        ("scalar", C.c_int),
        ("n", C.c_int64),
        ("nnz_L", C.c_int64),
        ("nnz_U", C.c_int64),
        ("diag_L", C.c_int),
        ("diag_U", C.c_int),
        ("nsupernodes", C.c_int64),
        ("tree_nodes", C.c_int64),
        ("L", C.c_void_p),
        ("U", C.c_void_p),
        ("row_perm", C.c_void_p),
        ("col_perm", C.c_void_p),
        ("row_scale", C.c_void_p),
        ("col_scale", C.c_void_p),
        ("supernode_ptr", C.c_void_p),
        ("tree_ptr", C.c_void_p),
        ("tree_parent", C.c_void_p),
        ("block_size", C.c_int),
        ("shift", C.c_double),
        ("choice", C.c_char_p),
        ("levels", C.c_int),
    ]


class trs_options(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("method", C.c_char_p),
        ("take_triangle", C.c_int),
        ("nrhs", C.c_int64),
        ("solves", C.c_int64),
        ("progress", trs_progress),
        ("progress_user", C.c_void_p),
        ("store", C.c_int),
        ("tune", C.c_int),
        ("stream", C.c_void_p),
        ("distributed", C.c_int),
        ("launch_updates", C.c_int),
    ]


class trs_plan_info(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("backend", C.c_char_p),
        ("method", C.c_char_p),
        ("reason", C.c_char_p),
        ("threads", C.c_int),
        ("n", C.c_int64),
        ("nnz", C.c_int64),
        ("levels", C.c_int64),
        ("min_parallelism", C.c_int64),
        ("max_parallelism", C.c_int64),
        ("parallelism", C.c_double),
        ("dependency", C.c_double),
        ("solve_bytes", C.c_int64),
        ("plan_bytes", C.c_int64),
        ("analysis_seconds", C.c_double),
        ("update_seconds", C.c_double),
        ("device", C.c_char_p),
        ("device_seconds", C.c_double),
        ("store", C.c_int),
    ]


class trs_plan_share(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("nrows", C.c_int64),
        ("first_column", C.c_int64),
        ("ncolumns", C.c_int64),
    ]


class trs_batch_options(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("take_triangle", C.c_int),
        ("nrhs", C.c_int64),
        ("hermitian", C.c_int),
    ]


class trs_batch_info(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("n", C.c_int64),
        ("nnz", C.c_int64),
        ("count", C.c_int64),
        ("systems_at_once", C.c_int),
        ("threads", C.c_int),
        ("bytes", C.c_int64),
        ("method", C.c_char_p),
        ("faults", C.c_int64),
        ("first_fault", C.c_int64),
    ]


class trs_relax_options(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("store", C.c_int),
        ("balanced", C.c_int),
        ("colour", C.c_void_p),
        ("nrhs", C.c_int64),
        ("variant", C.c_char_p),
    ]


class trs_sweep_options(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("sweeps", C.c_int64),
        ("direction", C.c_int),
        ("omega", C.c_double),
        ("keep_x", C.c_int),
        ("residual_every", C.c_int64),
        ("residuals", C.c_void_p),
    ]


class trs_relax_info(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("scalar", C.c_int),
        ("store", C.c_int),
        ("block_size", C.c_int),
        ("threads", C.c_int),
        ("nrows", C.c_int64),
        ("nblocks", C.c_int64),
        ("longest_row", C.c_int64),
        ("colours", C.c_int64),
        ("smallest_colour", C.c_int64),
        ("largest_colour", C.c_int64),
        ("colour_ptr", C.c_void_p),
        ("row", C.c_void_p),
        ("sweep_bytes", C.c_int64),
        ("rounding", C.c_double),
        ("create_seconds", C.c_double),
        ("update_seconds", C.c_double),
        ("variant", C.c_char_p),
        ("device_bytes", C.c_int64),
        ("domains", C.c_int),
        ("partition", C.c_char_p),
    ]


class trs_backward_error(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("componentwise", C.c_double),
        ("normwise", C.c_double),
        ("worst_row", C.c_int64),
        ("underflow_rows", C.c_int64),
        ("range", C.c_int),
        ("range_row", C.c_int64),
        ("range_column", C.c_int64),
    ]


# name: (result, arguments)
FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "trs_last_error": (C.POINTER(trs_error), []),
    "trs_status_name": (C.c_char_p, [C.c_int]),
    "trs_version": (C.c_char_p, []),
    "trs_features": (C.c_char_p, []),
    "trs_set_cancel_flag": (C.c_int, [C.c_void_p]),
    "trs_context_create": (C.c_int, [C.c_void_p, C.c_char_p]),
    "trs_context_destroy": (None, [C.c_void_p]),
    "trs_context_get_kind": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_context_threads": (C.c_int, [C.c_void_p]),
    "trs_context_processes": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_context_members": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p]),
    "trs_context_set_gpu_memory": (C.c_int, [C.c_void_p, C.c_int64]),
    "trs_context_gpu_memory": (C.c_int64, [C.c_void_p]),
    "trs_context_gpu": (C.c_int, [C.c_void_p, C.c_int]),
    "trs_device_list": (C.c_char_p, []),
    "trs_matrix_create": (C.c_int, [C.c_void_p, C.c_int, C.c_int, C.c_int64, C.c_int64, C.c_int, C.c_void_p, C.c_void_p, C.c_void_p, C.c_int]),
    "trs_matrix_create_coo": (C.c_int, [C.c_void_p, C.c_int, C.c_int64, C.c_int64, C.c_int64, C.c_int, C.c_void_p, C.c_void_p, C.c_void_p]),
    "trs_matrix_create_bsr": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_matrix_create_device": (C.c_int, [C.c_void_p, C.c_void_p, C.c_int, C.c_int, C.c_int64, C.c_int64, C.c_int64, C.c_int, C.c_void_p, C.c_void_p, C.c_void_p]),
    "trs_matrix_create_deferred": (C.c_int, [C.c_void_p, C.c_int, C.c_int, C.c_int64, C.c_int64, C.c_int, C.c_void_p, C.c_void_p, C.c_int, trs_values_callback, C.c_void_p]),
    "trs_matrix_set_values": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_matrix_destroy": (None, [C.c_void_p]),
    "trs_matrix_get_info": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_matrix_get_arrays": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p]),
    "trs_matrix_convert": (C.c_int, [C.c_void_p, C.c_void_p, C.c_int, C.c_int]),
    "trs_matrix_triangle": (C.c_int, [C.c_void_p, C.c_void_p, C.c_int, C.c_int]),
    "trs_matrix_read": (C.c_int, [C.c_void_p, C.c_char_p, C.c_void_p]),
    "trs_matrix_open": (C.c_int, [C.c_void_p, C.c_char_p, C.c_int, C.c_int, C.c_int, C.c_void_p]),
    "trs_matrix_write": (C.c_int, [C.c_void_p, C.c_char_p]),
    "trs_vectors_read": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p, C.c_int, C.c_char_p, C.c_void_p]),
    "trs_vectors_write": (C.c_int, [C.c_void_p, C.c_int64, C.c_int64, C.c_int64, C.c_int, C.c_int, C.c_char_p]),
    "trs_free": (None, [C.c_void_p]),
    "trs_generator_list": (C.c_char_p, []),
    "trs_random_fill": (None, [C.c_void_p, C.c_int64, C.c_int, C.c_uint64]),
    "trs_factor": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p]),
    "trs_factors_create": (C.c_int, [C.c_void_p, C.c_void_p, C.c_int, C.c_void_p, C.c_int, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p]),
    "trs_factors_refactor": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p]),
    "trs_factors_destroy": (None, [C.c_void_p]),
    "trs_factors_get_info": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_factors_condition": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_factors_read": (C.c_int, [C.c_void_p, C.c_char_p, C.c_void_p]),
    "trs_factors_write": (C.c_int, [C.c_void_p, C.c_char_p]),
    "trs_file_content": (C.c_int, [C.c_void_p, C.c_char_p]),
    "trs_analyze": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p, C.c_int, C.c_int, C.c_int, C.c_void_p]),
    "trs_analyze_factors": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p, C.c_int, C.c_void_p]),
    "trs_update": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_update_factors": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_update_bsr": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_plan_clone": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_plan_destroy": (None, [C.c_void_p]),
    "trs_plan_get_info": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_plan_get_levels": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p]),
    "trs_plan_bound": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_plan_describe": (C.c_size_t, [C.c_void_p, C.c_char_p, C.c_size_t]),
    "trs_backend_list": (C.c_char_p, []),
    "trs_method_list": (C.c_char_p, []),
    "trs_solve": (C.c_int, [C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p, C.c_int64, C.c_int64, C.c_int]),
    "trs_solve_once": (C.c_int, [C.c_void_p, C.c_void_p, C.c_int, C.c_int, C.c_int, C.c_int, C.c_int64, C.c_int, C.c_void_p, C.c_void_p, C.c_void_p]),
    "trs_plan_get_share": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p, C.c_int, C.c_int64]),
    "trs_solve_distributed": (C.c_int, [C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p, C.c_int64, C.c_int64, C.c_int]),
    "trs_plan_set_stream": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_plan_set_streams": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_plan_wait": (C.c_int, [C.c_void_p]),
    "trs_batch_create": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p, C.c_int, C.c_int, C.c_int, C.c_int64, C.c_void_p]),
    "trs_batch_create_factors": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p, C.c_int, C.c_int64, C.c_void_p]),
    "trs_batch_update": (C.c_int, [C.c_void_p, C.c_void_p, C.c_int64]),
    "trs_batch_update_factors": (C.c_int, [C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p, C.c_int64]),
    "trs_batch_solve": (C.c_int, [C.c_void_p, C.c_void_p, C.c_int64, C.c_int64, C.c_void_p, C.c_int64, C.c_int64, C.c_int64, C.c_int]),
    "trs_batch_get_info": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_relax_create": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p, C.c_int, C.c_void_p]),
    "trs_relax_create_bsr": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p]),
    "trs_relax_sweep": (C.c_int, [C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p, C.c_int64, C.c_int64, C.c_int, C.c_void_p]),
    "trs_relax_get_info": (C.c_int, [C.c_void_p, C.c_void_p]),
    "trs_check": (C.c_int, [C.c_void_p, C.c_void_p, C.c_int, C.c_int, C.c_int, C.c_void_p, C.c_int64, C.c_void_p, C.c_int64, C.c_int64, C.c_int]),
    "trs_check_factors": (C.c_int, [C.c_void_p, C.c_void_p, C.c_int, C.c_void_p, C.c_int64, C.c_void_p, C.c_int64, C.c_int64, C.c_int]),
    "trs_memory_usage": (None, [C.c_void_p, C.c_void_p]),
}
