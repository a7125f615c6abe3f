/* What an operation does with bytes of device memory: a call, a node of a graph, or work beside a
 * capture. */
#ifndef SC_TRACK_DEVICE_USE_H
#define SC_TRACK_DEVICE_USE_H

#include <stdint.h>

#include "track/hazard.h"
#include "track/ordering.h"
#include "track/shape.h"

/* READS: it does nothing else there. NAMES: the address of the first byte is among a kernel's
 * parameters. */
enum sc_device_access { SC_DEVICE_WRITES, SC_DEVICE_READS, SC_DEVICE_NAMES };

struct sc_device_use {
    struct sc_shape shape;
    struct sc_fold fold;
    enum sc_direction direction; /* of the operation */
    enum sc_device_access access;
    uint8_t unsure;  /* SC_UNSURE_LEFT_OUT, or 0 */
    uint32_t origin; /* of the memory, where it is known already (track/origins.h) */
};

/* Of a kernel that has the address. */
static inline struct sc_device_use sc_device_use_named(uintptr_t address)
{
    return (struct sc_device_use){
        .shape = {address, 1, 1, 1}, .access = SC_DEVICE_NAMES, .direction = SC_NO_DIRECTION};
}

enum { SC_DEVICE_USES_MAX = 2 };

/* Those of a copy or memset. */
struct sc_device_uses {
    unsigned count;
    struct sc_device_use of[SC_DEVICE_USES_MAX];
};

/* A use of no bytes is none. */
static inline void sc_device_uses_add(struct sc_device_uses *uses, const struct sc_device_use *use)
{
    if (uses->count < SC_DEVICE_USES_MAX && sc_shape_hull_bytes(&use->shape) != 0)
        uses->of[uses->count++] = *use;
}

#endif
