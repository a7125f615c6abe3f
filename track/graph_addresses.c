#include "track/graph_addresses.h"

#include <string.h>

#include "track/poison.h"

enum { CAPACITY_MIN = 16 };

static void give_lists(struct sc_graph_addresses *addresses, struct sc_arena *arena)
{
    if (addresses->list)
        sc_arena_give(arena, addresses->list, addresses->capacity * sizeof *addresses->list);
    if (addresses->sorted)
        sc_arena_give(arena, addresses->sorted, addresses->capacity * sizeof *addresses->sorted);
}

void sc_graph_addresses_give(struct sc_graph_addresses *addresses, struct sc_arena *arena)
{
    give_lists(addresses, arena);
    *addresses = (struct sc_graph_addresses){.list = NULL};
}

static bool make_room(struct sc_graph_addresses *addresses, struct sc_arena *arena)
{
    struct sc_graph_addresses larger = *addresses;
    if (addresses->count < addresses->capacity)
        return true;
    if (addresses->count == SC_GRAPH_ADDRESSES_MAX)
        return false;
    larger.capacity = addresses->capacity ? addresses->capacity * 4 : CAPACITY_MIN;
    if (larger.capacity > SC_GRAPH_ADDRESSES_MAX)
        larger.capacity = SC_GRAPH_ADDRESSES_MAX;
    larger.list = sc_arena_take(arena, larger.capacity * sizeof *larger.list);
    larger.sorted = sc_arena_take(arena, larger.capacity * sizeof *larger.sorted);
    if (!larger.list || !larger.sorted) {
        give_lists(&larger, arena);
        return false;
    }
    if (addresses->count)
        memcpy(larger.list, addresses->list, addresses->count * sizeof *larger.list);
    give_lists(addresses, arena);
    *addresses = larger;
    return true;
}

void sc_graph_addresses_add(struct sc_graph_addresses *addresses, struct sc_arena *arena,
                            uintptr_t node, uintptr_t address)
{
    if (!make_room(addresses, arena))
        return;
    addresses->list[addresses->count++] = (struct sc_graph_address){node, address};
    addresses->is_sorted = false;
}

void sc_graph_addresses_drop(struct sc_graph_addresses *addresses, uintptr_t node)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < addresses->count; i++)
        if (node && addresses->list[i].node != node)
            addresses->list[kept++] = addresses->list[i];
    addresses->is_sorted &= kept == addresses->count;
    addresses->count = kept;
}

/* Puts the root of a heap into its place. */
static void sift(uintptr_t *heap, uint32_t root, uint32_t count)
{
    for (uint32_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && heap[child + 1] > heap[child])
            child++;
        if (heap[root] >= heap[child])
            return;
        uintptr_t lower = heap[root];
        heap[root] = heap[child];
        heap[child] = lower;
    }
}

static void sort(uintptr_t *values, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;)
        sift(values, i, count);
    for (uint32_t i = count; i-- > 1;) {
        uintptr_t largest = values[0];
        values[0] = values[i];
        values[i] = largest;
        sift(values, 0, i);
    }
}

static void sort_all(struct sc_graph_addresses *addresses,
                     sc_graph_address_is_left_out *is_left_out, void *context)
{
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < addresses->count; i++)
        if (!is_left_out(context, addresses->list[i].node))
            addresses->sorted[count++] = addresses->list[i].address;
    sort(addresses->sorted, count);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || addresses->sorted[i] != addresses->sorted[kept - 1])
            addresses->sorted[kept++] = addresses->sorted[i];
    addresses->sorted_count = kept;
    addresses->is_sorted = true;
}

uint32_t sc_graph_addresses_list(struct sc_graph_addresses *addresses, uint32_t index,
                                 uintptr_t *into, uint32_t room,
                                 sc_graph_address_is_left_out *is_left_out, void *context)
{
    if (!addresses->count)
        return 0;
    if (!addresses->is_sorted)
        sort_all(addresses, is_left_out, context);
    uint32_t left = index < addresses->sorted_count ? addresses->sorted_count - index : 0;
    uint32_t count = left < room ? left : room;
    if (count)
        memcpy(into, addresses->sorted + index, count * sizeof *into);
    return count;
}
