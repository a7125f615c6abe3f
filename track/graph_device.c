#include "track/graph_device.h"

#include <string.h>

#include "track/poison.h"

enum { CAPACITY_MIN = 8 };

void sc_graph_device_give(struct sc_graph_device *device, struct sc_arena *arena)
{
    if (device->list)
        sc_arena_give(arena, device->list, device->capacity * sizeof *device->list);
    *device = (struct sc_graph_device){.list = NULL};
}

static bool make_room(struct sc_graph_device *device, struct sc_arena *arena)
{
    struct sc_graph_device larger = *device;
    if (device->count < device->capacity)
        return true;
    if (device->count == SC_GRAPH_DEVICE_MAX)
        return false;
    larger.capacity = device->capacity ? device->capacity * 4 : CAPACITY_MIN;
    if (larger.capacity > SC_GRAPH_DEVICE_MAX)
        larger.capacity = SC_GRAPH_DEVICE_MAX;
    larger.list = sc_arena_take(arena, larger.capacity * sizeof *larger.list);
    if (!larger.list)
        return false;
    if (device->count)
        memcpy(larger.list, device->list, device->count * sizeof *larger.list);
    sc_graph_device_give(device, arena);
    *device = larger;
    return true;
}

void sc_graph_device_add(struct sc_graph_device *device, struct sc_arena *arena, uintptr_t node,
                         const struct sc_device_use *use)
{
    if (make_room(device, arena))
        device->list[device->count++] = (struct sc_graph_device_use){node, *use};
}

void sc_graph_device_drop(struct sc_graph_device *device, uintptr_t node)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < device->count; i++)
        if (node && device->list[i].node != node)
            device->list[kept++] = device->list[i];
    device->count = kept;
    device->is_left_out &= node != 0;
}

uint32_t sc_graph_device_list(const struct sc_graph_device *device, uint32_t *at,
                              struct sc_device_use *into, uint32_t room,
                              sc_graph_device_is_disabled *is_disabled, void *context)
{
    uint32_t count = 0;
    if (device->is_left_out)
        return 0;
    for (; *at < device->count && count < room; ++*at)
        if (!is_disabled(context, device->list[*at].node))
            into[count++] = device->list[*at].use;
    return count;
}
