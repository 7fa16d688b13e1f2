/* checksum.c - CRC-32 of bytes and of joined parts. */
#include "base/checksum.h"

#include "base/random.h"
#include "test.h"

/* From the definition, one bit at a time. */
static uint32_t plain_crc(const unsigned char *bytes, int64_t count) {
  uint32_t crc = ~0u;
  for (int64_t k = 0; k < count; k++) {
    crc ^= bytes[k];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

TEST(known_values) {
  assert_int_equal(trs_crc32(0, "123456789", 9), 0xCBF43926u);
  assert_int_equal(trs_crc32(0, "", 0), 0);
}

TEST(parts_join) {
  enum { MOST = 300 };
  unsigned char bytes[MOST];
  for (int k = 0; k < MOST; k++) bytes[k] = (unsigned char)trs_random(1, (uint64_t)k);
  for (uint64_t round = 0; round < 3000; round++) {
    int64_t count = (int64_t)trs_random_below(2, round, MOST);
    int64_t first = (int64_t)trs_random_below(3, round, (uint64_t)count + 1);
    uint32_t whole = plain_crc(bytes, count);
    uint32_t a = trs_crc32(0, bytes, first), b = trs_crc32(0, bytes + first, count - first);
    assert_int_equal(trs_crc32(0, bytes, count), whole);
    assert_int_equal(trs_crc32(a, bytes + first, count - first), whole);
    assert_int_equal(trs_crc32_join(a, b, count - first), whole);
  }
}
