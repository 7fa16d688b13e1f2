/* nvshmem_link.cpp - libtrireme_nvshmem.so: NVSHMEM's host library behind nvshmem_link.h.
 *
 * C++ because NVSHMEM's headers are C++.  Kernels use only the addresses that reach returns, so
 * NVSHMEM's device library is not needed. */
#include "comm/nvshmem_link.h"

#include <nvshmem_host.h>

#include <cstdlib>
#include <cstring>

namespace {

static_assert(sizeof(nvshmemx_uniqueid_t) == TRS_NVSHMEM_ID, "the id is passed on as bytes");

/* The processes of one machine find each other over the loopback interface.  Multicast memory
 * (NVLS) is not used and hangs on some systems.  The proxy thread serves features that are not used
 * here, and spins on a core that the solve needs if mpirun binds a process to one core. */
void prepare() {
  setenv("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "lo", 0);
  setenv("NVSHMEM_DISABLE_NVLS", "1", 0);
  setenv("NVSHMEM_REMOTE_TRANSPORT", "none", 0);
  setenv("NVSHMEM_DISABLE_LOCAL_ONLY_PROXY", "1", 0);
}

const char *make_id(void *id) {
  nvshmemx_uniqueid_t unique = NVSHMEMX_UNIQUEID_INITIALIZER;
  prepare();
  if (nvshmemx_get_uniqueid(&unique) != 0) return "nvshmemx_get_uniqueid failed";
  std::memcpy(id, &unique, sizeof unique);
  return nullptr;
}

const char *start(int rank, int ranks, void *id) {
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  nvshmemx_uniqueid_t unique;
  std::memcpy(&unique, id, sizeof unique);
  prepare();
  if (nvshmemx_set_attr_uniqueid_args(rank, ranks, &unique, &attributes) != 0)
    return "nvshmemx_set_attr_uniqueid_args failed";
  if (nvshmemx_hostlib_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) != 0)
    return "nvshmemx_hostlib_init_attr failed (NVSHMEM_DEBUG=INFO says more)";
  if (nvshmem_my_pe() != rank || nvshmem_n_pes() != ranks) return "ranks are not as asked for";
  return nullptr;
}

void stop() { nvshmemx_hostlib_finalize(); }

void *alloc(int64_t bytes) { return nvshmem_align(256, static_cast<size_t>(bytes)); }
void release(void *pointer) { nvshmem_free(pointer); }
void *reach(void *pointer, int rank) { return nvshmem_ptr(pointer, rank); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const trs_nvshmem_link trs_nvshmem_table = {
    TRS_NVSHMEM_LINK, make_id, start, stop, alloc, release, reach};
