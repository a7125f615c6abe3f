/* What the files that keep the index of operations (track/inflight.c, device.c, conflicts.c) share,
 * and no others. Locks: every function needs the owner's lock. */
#ifndef SC_TRACK_INFLIGHT_INTERNAL_H
#define SC_TRACK_INFLIGHT_INTERNAL_H

#include "track/inflight.h"

/* The record in whose list such an operation lies: its range, or what stands for no range, or for
 * all device memory. */
static inline uint32_t sc_inflight_home(const struct sc_inflight *inflight,
                                        const struct sc_op_info *info)
{
    if (info->kind == SC_DEVICE)
        return inflight->device_memory;
    return info->range ? info->range : inflight->no_range;
}

/* A new record of an operation that was issued, in its grid and in its home's list; 0: there is no
 * memory. It refers to the stream. */
uint32_t sc_inflight_put(struct sc_inflight *inflight, const struct sc_op_info *info);

/* Gives the record back, which lies in no other list. */
void sc_inflight_take_out(struct sc_inflight *inflight, uint32_t op);

#endif
