/* What the copies and memsets of an exec do with device memory.
 *
 * A launch does all of that. It is kept with the nodes, since a node may be given other parameters,
 * or be disabled; a launch asks for it node by node, in the order in which the nodes were met.
 * Beyond SC_GRAPH_DEVICE_MAX nothing is kept.
 *
 * Beside that stand races: two nodes of the graph that no edges order.
 *
 * Plain data. Locks: none; the caller's lock guards every call.
 */
#ifndef SC_TRACK_GRAPH_DEVICE_H
#define SC_TRACK_GRAPH_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "track/device.h"
#include "track/hazard.h"
#include "track/pool.h"

enum { SC_GRAPH_DEVICE_MAX = 8192, SC_GRAPH_RACES_MAX = 16 };

struct sc_graph_device_use {
    uintptr_t node;
    struct sc_device_use use;
};

/* Two nodes that use a common byte, and that no edges order. */
struct sc_graph_race {
    struct sc_graph_device_use of[2];
    struct sc_hazard_event made;       /* the exec, with these nodes */
    struct sc_hazard_event authors[2]; /* who added them; api NULL: not known */
    bool is_told;
};

struct sc_graph_device {
    struct sc_graph_device_use *list;
    uint32_t count, capacity;
    bool is_left_out;            /* of this exec nothing is listed */
    struct sc_graph_race *races; /* SC_GRAPH_RACES_MAX, or NULL */
    uint32_t race_count;
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

/* What all nodes do, as sc_graph_device_list has it; also what is disabled. Returns how many there
 * are; no more than `room` are stored. */
uint32_t sc_graph_device_all(const struct sc_graph_device *device, struct sc_graph_device_use *into,
                             uint32_t room);

/* A race goes with either node. False: there is no room for more. */
bool sc_graph_device_add_race(struct sc_graph_device *device, struct sc_arena *arena,
                              const struct sc_graph_race *race);

/* The next race that was not told of and of which no node is disabled: it counts as told. False:
 * there is none. */
bool sc_graph_device_next_race(struct sc_graph_device *device, struct sc_graph_race *into,
                               sc_graph_device_is_disabled *is_disabled, void *context);

#endif
