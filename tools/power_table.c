/* power_table.c - writes the source file of trs_power_table (src/io/power_table.h): the leading 128
 * bits of the powers of five that decimal numbers are read and written with.  A build runs it.
 *
 *     power_table OUT.c */
#include <stdint.h>
#include <stdio.h>

/* FIRST: the least decimal exponent of a double's digits; LAST: the greatest.  5^342 has 795 bits.
 * Powers below 2^64 are those to 5^27. */
enum { FIRST = -342, LAST = 340, LIMBS = 26, BITS = 32 * LIMBS, SHORT = 27 };

/* A whole number, the lowest limb first. */
typedef struct number {
  uint32_t limb[LIMBS];
} number;

static void multiply(number *a, uint32_t factor) {
  uint64_t carry = 0;
  for (int i = 0; i < LIMBS; i++) {
    carry += (uint64_t)a->limb[i] * factor;
    a->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
}

static void subtract(number *a, const number *b) {
  uint64_t borrow = 0;
  for (int i = 0; i < LIMBS; i++) {
    uint64_t difference = (uint64_t)a->limb[i] - b->limb[i] - borrow;
    a->limb[i] = (uint32_t)difference;
    borrow = difference >> 63;
  }
}

static int is_less(const number *a, const number *b) {
  int i = LIMBS - 1;
  while (i > 0 && a->limb[i] == b->limb[i]) i--;
  return a->limb[i] < b->limb[i];
}

static int bit(const number *a, int at) { return (int)(a->limb[at / 32] >> at % 32 & 1); }

static int bits_of(const number *a) {
  int bits = BITS;
  while (bits && !bit(a, bits - 1)) bits--;
  return bits;
}

static number power_of_five(int exponent) {
  number power = {{1}};
  for (int k = 0; k < exponent; k++) multiply(&power, 5);
  return power;
}

static void append(uint64_t value[2], int bit) {
  value[0] = value[0] << 1 | value[1] >> 63;
  value[1] = value[1] << 1 | (uint64_t)bit;
}

/* The highest 128 bits, cut off; a shorter power is followed by zeros. */
static void take_leading(uint64_t value[2], const number *power) {
  int bits = bits_of(power);
  for (int k = 1; k <= 128; k++) append(value, bits >= k && bit(power, bits - k));
}

/* 2^(bits + 127) / power by long division.  Reciprocals of powers below 2^64 are rounded up, as the
 * proof of the reading algorithm needs them. */
static void take_reciprocal(uint64_t value[2], const number *power, int round_up) {
  number rest = {{0}};
  int bits = bits_of(power);
  rest.limb[(bits - 1) / 32] = (uint32_t)1 << (bits - 1) % 32;
  for (int k = 0; k < 128; k++) {
    multiply(&rest, 2);
    int fits = !is_less(&rest, power);
    if (fits) subtract(&rest, power);
    append(value, fits);
  }
  value[1] += (uint64_t)round_up;
  value[0] += round_up && !value[1];
}

static void write_table(FILE *out) {
  fprintf(out, "/* Written by tools/power_table.c: 5^q for q = %d .. %d, high half first. */\n",
          FIRST, LAST);
  fprintf(out, "#include \"io/power_table.h\"\n\n");
  fprintf(out, "const uint64_t trs_power_table[TRS_POWER_LAST - TRS_POWER_FIRST + 1][2] = {\n");
  for (int q = FIRST; q <= LAST; q++) {
    uint64_t value[2] = {0, 0};
    number power = power_of_five(q < 0 ? -q : q);
    if (q < 0)
      take_reciprocal(value, &power, -q <= SHORT);
    else
      take_leading(value, &power);
    fprintf(out, "    {0x%016llx, 0x%016llx}, /* %d */\n", (unsigned long long)value[0],
            (unsigned long long)value[1], q);
  }
  fprintf(out, "};\n");
}

int main(int argc, char **argv) {
  FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
  if (!out) {
    fprintf(stderr, "power_table OUT.c: %s\n", argc == 2 ? "cannot be written" : "one file");
    return 1;
  }
  write_table(out);
  int failed = ferror(out);
  failed |= fclose(out) != 0;
  if (failed) fprintf(stderr, "power_table: %s could not be written whole\n", argv[1]);
  return failed;
}
