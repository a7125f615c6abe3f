/* migrate.c: where pages of managed memory lie. */
#ifndef SIM_MIGRATE_H
#define SIM_MIGRATE_H

#include "sim.h"
#include "sim_hooks.h"

struct sim_range;

typedef void sim_managed_fn(const struct sim_managed *what);

/* The device, which has so much room for managed memory, has touched bytes of the block. */
void sim_migrate_touched(const struct sim_range *range, uintptr_t address, size_t bytes, int device,
                         size_t room, sim_managed_fn *to);

/* A block of managed memory is gone. */
void sim_migrate_freed(uintptr_t base);

#endif
