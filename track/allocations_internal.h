/* The record of all blocks of device memory that the driver has handed out (track/allocations.h),
 * for their module and for the tracker. */

/* Terms (docs/glossary.md):
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_ALLOCATIONS_INTERNAL_H
#define SC_TRACK_ALLOCATIONS_INTERNAL_H

#include "common/pool.h"
#include "track/grid.h"

struct sc_allocations {
    struct sc_pool blocks;
    struct sc_grid grid;
    uint64_t made; /* how many blocks were ever made: gives each block a number of its own */
};

#endif
