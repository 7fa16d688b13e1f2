/* grid.h - the nodes of a box, numbered with x fastest and z slowest. */
#ifndef TRS_GALLERY_GRID_H
#define TRS_GALLERY_GRID_H

#include <stdbool.h>
#include <stdint.h>

typedef struct trs_grid {
  int64_t nx, ny, nz;
} trs_grid;

typedef struct trs_node {
  int64_t x, y, z;
} trs_node;

static inline trs_node trs_grid_node(const trs_grid *grid, int64_t number) {
  int64_t layer = number / grid->nx;
  return (trs_node){number % grid->nx, layer % grid->ny, layer / grid->ny};
}

static inline int64_t trs_grid_number(const trs_grid *grid, int64_t x, int64_t y, int64_t z) {
  return x + grid->nx * (y + grid->ny * z);
}

static inline bool trs_grid_has(const trs_grid *grid, int64_t x, int64_t y, int64_t z) {
  return x >= 0 && x < grid->nx && y >= 0 && y < grid->ny && z >= 0 && z < grid->nz;
}

#endif
