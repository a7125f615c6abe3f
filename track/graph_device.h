/* What the copies and memsets of an exec do with device memory.
 *
 * A launch does all of that. It is kept with the nodes, since a node may be given other parameters,
 * or be disabled; a launch asks for it node by node, in the order in which the nodes were met.
 * Beyond SC_GRAPH_DEVICE_MAX nothing is kept.
 *
 * Plain data. Locks: none; the caller's lock guards every call.
 */
#ifndef SC_TRACK_GRAPH_DEVICE_H
#define SC_TRACK_GRAPH_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "track/device.h"
#include "track/pool.h"

enum { SC_GRAPH_DEVICE_MAX = 8192 };

struct sc_graph_device {
    struct sc_graph_device_use {
        uintptr_t node;
        struct sc_device_use use;
    } * list;
    uint32_t count, capacity;
    bool is_left_out; /* of this exec nothing is listed */
};

void sc_graph_device_add(struct sc_graph_device *device, struct sc_arena *arena, uintptr_t node,
                         const struct sc_device_use *use);

/* The node does nothing any more; 0: none of them does, and nothing is left out. */
void sc_graph_device_drop(struct sc_graph_device *device, uintptr_t node);
void sc_graph_device_give(struct sc_graph_device *device, struct sc_arena *arena);

/* Stores at most `room` uses of nodes that are not disabled, from `*at` on, and returns how many.
 * `*at` moves behind them; it is 0 at first. */
typedef bool sc_graph_device_is_disabled(void *context, uintptr_t node);
uint32_t sc_graph_device_list(const struct sc_graph_device *device, uint32_t *at,
                              struct sc_device_use *into, uint32_t room,
                              sc_graph_device_is_disabled *is_disabled, void *context);

#endif
