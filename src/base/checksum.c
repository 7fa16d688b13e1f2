/* checksum.c - CRC-32 in steps of eight bytes (Kounavis and Berry 2005, "slicing by eight"), and of
 * joined parts: appending n zero bytes multiplies a CRC, as a polynomial over GF(2), by x^(8n).
 * O(count); O(log n) to join.  lookup3 (Jenkins 2006) in steps of twelve bytes. */
#include "base/checksum.h"

#include <pthread.h>
#include <string.h>

static const uint32_t POLYNOMIAL = 0xEDB88320u;

/* table[k][b]: the CRC of byte b followed by k zero bytes. */
static uint32_t table[8][256];
static pthread_once_t table_made = PTHREAD_ONCE_INIT;

static void make_table(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
    table[0][byte] = crc;
  }
  for (int k = 1; k < 8; k++)
    for (int byte = 0; byte < 256; byte++) {
      uint32_t crc = table[k - 1][byte];
      table[k][byte] = crc >> 8 ^ table[0][crc & 255];
    }
}

uint32_t trs_crc32(uint32_t crc, const void *bytes, int64_t count) {
  const unsigned char *at = bytes;
  pthread_once(&table_made, make_table);
  crc = ~crc;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  for (; count >= 8; count -= 8, at += 8) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    word ^= crc;
    crc = table[7][word & 255] ^ table[6][word >> 8 & 255] ^ table[5][word >> 16 & 255] ^
          table[4][word >> 24 & 255] ^ table[3][word >> 32 & 255] ^ table[2][word >> 40 & 255] ^
          table[1][word >> 48 & 255] ^ table[0][word >> 56];
  }
#endif
  for (; count > 0; count--) crc = crc >> 8 ^ table[0][(crc ^ *at++) & 255];
  return ~crc;
}

/* a b modulo the polynomial; bit 31 is the constant term. */
static uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
    if (a & bit) product ^= b;
    b = b >> 1 ^ (b & 1 ? POLYNOMIAL : 0);
  }
  return product;
}

uint32_t trs_crc32_array(uint32_t crc, const void *array, int64_t bytes) {
  const int8_t given = array != NULL;
  crc = trs_crc32(crc, &given, 1);
  return given ? trs_crc32(crc, array, bytes) : crc;
}

uint32_t trs_crc32_join(uint32_t first, uint32_t second, int64_t second_count) {
  uint32_t power = 1u << 23; /* x^8 */
  for (uint64_t left = (uint64_t)second_count; left; left >>= 1) {
    if (left & 1) first = multiply(first, power);
    power = multiply(power, power);
  }
  return first ^ second;
}

static uint32_t rotate(uint32_t value, int bits) { return value << bits | value >> (32 - bits); }

static uint32_t word_at(const unsigned char *bytes, int64_t left) {
  uint32_t word = 0;
  for (int byte = 0; byte < 4 && byte < left; byte++) word |= (uint32_t)bytes[byte] << 8 * byte;
  return word;
}

uint32_t trs_lookup3(const void *data, int64_t count) {
  static const int mixing[] = {4, 6, 8, 16, 19, 4}, finishing[] = {14, 11, 25, 16, 4, 14, 24};
  const unsigned char *bytes = data;
  uint32_t h[3];
  h[0] = h[1] = h[2] = 0xDEADBEEFu + (uint32_t)count;
  for (; count > 12; count -= 12, bytes += 12) {
    for (int k = 0; k < 3; k++) h[k] += word_at(bytes + 4 * k, 4);
    for (int k = 0; k < 6; k++) {
      int a = k % 3, b = (k + 1) % 3, c = (k + 2) % 3;
      h[a] = (h[a] - h[c]) ^ rotate(h[c], mixing[k]);
      h[c] += h[b];
    }
  }
  if (count == 0) return h[2];
  for (int k = 0; k < 3 && 4 * k < count; k++) h[k] += word_at(bytes + 4 * k, count - 4 * k);
  for (int k = 0; k < 7; k++) {
    int a = (k + 2) % 3, b = (k + 1) % 3;
    h[a] = (h[a] ^ h[b]) - rotate(h[b], finishing[k]);
  }
  return h[2];
}
