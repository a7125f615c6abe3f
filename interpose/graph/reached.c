#include "interpose/graph/reached.h"

#include "common/own_pages.h"

#include "common/poison.h"

/* Begins a search in a graph of `count` nodes, with room for twice as many: those to go on from,
 * and one answer of the driver's. Returns false, and keeps nothing, if there is no memory. */
bool sc_reached_begin(struct sc_reached *reach, size_t count)
{
    *reach =
        (struct sc_reached){.count = count, .room = sc_pages_map(2 * count * sizeof *reach->room)};
    if (reach->room && sc_handles_init(&reach->met) == 0)
        return true;
    sc_pages_unmap(reach->room, 2 * count * sizeof *reach->room);
    return false;
}

/* Goes from the node along the edges, and calls `visit` for each node that was not reached before.
 * The first half of the room has the nodes that are still to be gone on from, each once; the second
 * half what the driver answers for one node. A refusal, or no memory, leaves nodes out, and false
 * says so. */
bool sc_reached_from(struct sc_reached *reach, CUgraphNode from, enum sc_way way,
                     sc_reached_visit *visit, void *context)
{
    CUgraphNode *waiting = reach->room, *found = waiting + reach->count;
    bool found_all = true;
    waiting[0] = from;
    for (size_t left = 1; left;) {
        size_t count = reach->count;
        bool is_told = sc_driver_nodes_next_to(waiting[--left], way, found, &count);
        found_all &= is_told && count <= reach->count;
        for (size_t i = 0; is_told && i < count && i < reach->count; i++) {
            if (sc_reached_has(reach, found[i]))
                continue;
            if (sc_handles_put(&reach->met, (uintptr_t)found[i], 1) != 0) {
                found_all = false;
                continue;
            }
            if (visit)
                visit(context, found[i]);
            waiting[left++] = found[i];
        }
    }
    return found_all;
}

bool sc_reached_has(struct sc_reached *reach, CUgraphNode node)
{
    return sc_handles_get(&reach->met, (uintptr_t)node);
}

void sc_reached_end(struct sc_reached *reach)
{
    sc_handles_destroy(&reach->met);
    sc_pages_unmap(reach->room, 2 * reach->count * sizeof *reach->room);
}
