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

#include "track/device_use.h"
#include "track/handles.h"
#include "track/hazard.h"
#include "track/pool.h"

enum { SC_GRAPH_DEVICE_MAX = 8192, SC_GRAPH_RACES_MAX = 16, SC_GRAPH_OWN_MAX = 256 };

/* Memory that a node of the exec allocates or frees. */
struct sc_graph_own {
    uintptr_t address;
    size_t size_bytes;  /* 0: it is not known how much is freed */
    uintptr_t freed_by; /* the node; 0: it allocates */
};

struct sc_graph_device_use {
    uintptr_t node;
    struct sc_device_use use;
    uint8_t told;   /* the step that it is of (track/told.h); 0: no node tells of it */
    uint8_t unsure; /* enum sc_unsure, by what stands before and behind the node */
};

/* Which uses. To be held against what came before a launch: all, those that are not gated, those
 * that are. To be noted behind a launch: those in flight, or of them those of a step (0 or more).
 */
enum {
    SC_GRAPH_DEVICE_ALL = -1,
    SC_GRAPH_DEVICE_FREE = -2,
    SC_GRAPH_DEVICE_GATED = -3,
    SC_GRAPH_DEVICE_IN_FLIGHT = -4,
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
    bool is_left_out; /* of this exec nothing is kept any more */
    struct sc_graph_own *own;
    uint32_t own_count, own_capacity;
    uint32_t steps;  /* as bits, that there are uses of */
    uint32_t unsure; /* steps, as bits, of which it is not known what tells: they are not judged */
    struct sc_graph_race *races; /* SC_GRAPH_RACES_MAX, or NULL */
    uint32_t race_count;
};

void sc_graph_device_add(struct sc_graph_device *device, struct sc_arena *arena, uintptr_t node,
                         const struct sc_device_use *use);

/* A node of the exec allocates or frees this memory. False: there is no room for more. When all of
 * it is known, uses of it are dropped, and the next ones are not added. The free of what no node
 * allocates is a use, of its first byte. */
bool sc_graph_device_own(struct sc_graph_device *device, struct sc_arena *arena,
                         const struct sc_graph_own *own);
void sc_graph_device_settle(struct sc_graph_device *device, struct sc_arena *arena);

/* Drops all, and keeps nothing of this exec from now on. */
void sc_graph_device_leave_out(struct sc_graph_device *device);

/* The node does nothing any more; 0: none of them does, and nothing is left out. */
void sc_graph_device_drop(struct sc_graph_device *device, uintptr_t node);
void sc_graph_device_give(struct sc_graph_device *device, struct sc_arena *arena);

/* Where nodes stand, by their names: the step that they are of, + 1, and why their order is not
 * certain (enum sc_unsure, as bits). NULL: of none. */
struct sc_graph_device_places {
    struct sc_handles *steps, *unsure;
};
void sc_graph_device_place(struct sc_graph_device *device,
                           const struct sc_graph_device_places *places);

/* The same of one node: its uses get the step, and what is true of this one. */
void sc_graph_device_place_node(struct sc_graph_device *device, uintptr_t node,
                                const struct sc_graph_device_use *place);

/* The first use of the node, or NULL. */
const struct sc_graph_device_use *sc_graph_device_of(const struct sc_graph_device *device,
                                                     uintptr_t node);

/* Stores at most `room` such uses, of nodes that are not disabled, from `*at` on, and
 * returns how many. `*at` moves behind them; it is 0 at first. `which`: a step, or one of the
 * above. */
typedef bool sc_graph_device_is_disabled(void *context, uintptr_t node);
uint32_t sc_graph_device_list(const struct sc_graph_device *device, uint32_t *at, int which,
                              struct sc_device_use *into, uint32_t room,
                              sc_graph_device_is_disabled *is_disabled, void *context);

/* What all nodes do, as sc_graph_device_list has it; also what is disabled. Returns how many there
 * are; no more than `room` are stored. */
uint32_t sc_graph_device_all(const struct sc_graph_device *device, struct sc_graph_device_use *into,
                             uint32_t room);

/* A race goes with either node. False: there is no room for more. */
bool sc_graph_device_add_race(struct sc_graph_device *device, struct sc_arena *arena,
                              const struct sc_graph_race *race);

/* The next race that was not told of and of which no node is disabled or unjudged: it counts as
 * told. False: there is none. */
bool sc_graph_device_next_race(struct sc_graph_device *device, struct sc_graph_race *into,
                               sc_graph_device_is_disabled *is_disabled, void *context);

#endif
