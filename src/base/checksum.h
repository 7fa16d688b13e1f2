/* checksum.h - CRC-32 as in gzip and zip (reflected polynomial 0xEDB88320), for data; lookup3, for
 * HDF5 metadata. */
#ifndef TRS_BASE_CHECKSUM_H
#define TRS_BASE_CHECKSUM_H

#include <stdint.h>

#include "trireme.h"

/* The CRC of earlier bytes and these; crc is that of the earlier bytes, 0 for none. */
uint32_t trs_crc32(uint32_t crc, const void *bytes, int64_t count);

/* The same of an array that may be NULL: whether it is, and its bytes. */
uint32_t trs_crc32_array(uint32_t crc, const void *array, int64_t bytes);

/* The CRC of A followed by B, from those of A and B and the length of B. */
uint32_t trs_crc32_join(uint32_t first, uint32_t second, int64_t second_count);

uint32_t trs_lookup3(const void *bytes, int64_t count);

#endif
