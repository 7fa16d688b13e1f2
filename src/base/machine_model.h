/* machine_model.h - the machine model: what a machine costs, for estimates of the time of a solve.
 * A row of constants per kind of machine.  C and CUDA C++.
 *
 * The constants have to order methods and kernels, not to predict times.  They are fixed: what
 * trs_backend.bandwidth and hop measure replaces none of them, since a measurement takes longer
 * than many analyses, and the choice would differ from run to run.  Ratios, margins and thresholds
 * of one algorithm stand beside that algorithm. */
#ifndef TRS_BASE_MACHINE_MODEL_H
#define TRS_BASE_MACHINE_MODEL_H

#ifdef __cplusplus
extern "C" {
#endif

/* Bandwidths are in bytes per second, times in seconds.  All members are doubles. */
typedef struct trs_gpu_costs {
  /* ---- Facts, by which other devices are compared with this one. ---- */
  double memory_bandwidth; /* peak of the device memory */
  double multiprocessors;  /* a number */

  /* ---- A whole solve, estimated from the matrix as stored, without its slices. ---- */
  double start;            /* of a solve whose b and x lie in host memory */
  double bus_bandwidth;    /* b and x between host and device */
  double level;            /* per level, with launches, batches of entries and long rows */
  double stored_bandwidth; /* the matrix as stored, b and x */

  /* ---- Launches of the engine. ---- */
  double launch;         /* the first one */
  double cluster_launch; /* the same of clusters, each of which is placed as a whole */
  double change;         /* one behind a launch of another kernel */
  double cluster_change; /* the same of clusters */

  /* ---- The warp-per-slice kernel.  The time of hops hides most of that of bytes. ---- */
  double hop;               /* per level: a dependency through the second-level cache */
  double batch_hop;         /* more per batch of four entries per lane */
  double entry_hop;         /* more per entry of a row, since rows poll the same x */
  double slice;             /* a slice keeps a warp's place so long, over all places */
  double waiting_bandwidth; /* slices, where rows wait */
  double hop_entries;       /* number of entries, of 12 bytes, that are read in a hop */

  /* ---- The kernels with x in shared memory. ---- */
  double block_level;              /* single-block: per level */
  double block_slice;              /* single-block: per slice */
  double block_step;               /* single-block: per slice, if its warps are the limit */
  double cluster_level;            /* cluster: per level */
  double cluster_slice;            /* cluster: per slice of a block of threads */
  double multiprocessor_bandwidth; /* slices, by one multiprocessor */

  /* ---- Several right-hand sides.  The bytes are those of x, from caches and memory. ---- */
  double place;             /* batched: as slice */
  double scattered_place;   /* the same if the rows of a slice lie apart in b and x */
  double many_level;        /* many-rhs: per level */
  double many_part;         /* many-rhs: per part of a heavy block */
  double many_part_byte;    /* many-rhs: per part, and per byte of a row of x */
  double many_bandwidth;    /* many-rhs, where rows wait */
  double groups_level;      /* row groups: per level */
  double groups_bandwidth;  /* row groups, where rows wait */
  double settled_bandwidth; /* many-rhs and row groups, in levels with a launch of their own */

  double substitution; /* time that substitution of rows adds to the analysis of a small system */

  /* ---- Several GPUs with NVLink. ---- */
  double group_start;     /* as start */
  double group_launch;    /* of a solve with b and x in device memory */
  double group_hop;       /* a step from level to level on one GPU */
  double peer_hop;        /* more if it is from one GPU to another */
  double push;            /* per value that a GPU sends */
  double group_bandwidth; /* slices of one GPU, whose time is added to that of the hops */
  double link_bandwidth;  /* right-hand sides, from one GPU to another */
} trs_gpu_costs;

/* The row of the devices on which the constants were measured. */
extern const trs_gpu_costs trs_gpu_measured;

/* The row of a device by a part of its name; otherwise the generic row, scaled by its facts: peak
 * bytes per second of its memory, and multiprocessors.  0: unknown. */
trs_gpu_costs trs_gpu_costs_of(const char *name, double bandwidth, int multiprocessors);

/* Times are in seconds.  All members are doubles. */
typedef struct trs_cpu_costs {
  /* ---- Substitution, with data in cache. ---- */
  double row;         /* per row */
  double entry;       /* per entry, and per unit of work of a schedule */
  double start;       /* of a run of the team */
  double wait;        /* for other threads, per level */
  double cache_bytes; /* bytes: of the caches of a few cores */

  /* ---- Panels. ---- */
  double panel;        /* per supernode */
  double panel_line;   /* per row or column of a supernode */
  double panel_value;  /* per value of a supernode */
  double panel_column; /* per column of a diagonal block that all threads solve with */

  double barrier;        /* of a team */
  double barrier_member; /* more per thread */
} trs_cpu_costs;

/* The row of every CPU. */
extern const trs_cpu_costs trs_cpu_generic;

#ifdef __cplusplus
}
#endif
#endif
