/* Addresses among the parameters of an exec's kernel nodes.
 *
 * A launch may use the memory that they lie in. They are kept with their nodes, since a node may be
 * given other parameters, or be disabled; a launch asks for all of them, each once and in order.
 * Beyond SC_GRAPH_ADDRESSES_MAX nothing is kept.
 *
 * Plain data. Locks: none; the caller's lock guards every call.
 */
#ifndef SC_TRACK_GRAPH_ADDRESSES_H
#define SC_TRACK_GRAPH_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "track/pool.h"

enum { SC_GRAPH_ADDRESSES_MAX = 8192 };

struct sc_graph_addresses {
    struct sc_graph_address {
        uintptr_t node, address;
    } * list;
    uint32_t count, capacity;
    uintptr_t *sorted; /* those of nodes that are not disabled; as many as the capacity */
    uint32_t sorted_count;
    bool is_sorted;
};

void sc_graph_addresses_add(struct sc_graph_addresses *addresses, struct sc_arena *arena,
                            uintptr_t node, uintptr_t address);

/* The node has none any more; 0: none of them has. */
void sc_graph_addresses_drop(struct sc_graph_addresses *addresses, uintptr_t node);
void sc_graph_addresses_give(struct sc_graph_addresses *addresses, struct sc_arena *arena);

/* A node was enabled or disabled. */
static inline void sc_graph_addresses_changed(struct sc_graph_addresses *addresses)
{
    addresses->is_sorted = false;
}

/* Stores at most `room` addresses from the index on, and returns how many. */
typedef bool sc_graph_address_is_left_out(void *context, uintptr_t node);
uint32_t sc_graph_addresses_list(struct sc_graph_addresses *addresses, uint32_t index,
                                 uintptr_t *into, uint32_t room,
                                 sc_graph_address_is_left_out *is_left_out, void *context);

#endif
