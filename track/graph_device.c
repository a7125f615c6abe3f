#include "track/graph_device.h"

#include "track/poison.h"

/* Four times as many are added until there are SC_GRAPH_DEVICE_MAX. */
enum { CAPACITY_MIN = 8 };

void sc_graph_device_give(struct sc_graph_device *device, struct sc_arena *arena)
{
    if (device->list)
        sc_arena_give(arena, device->list, device->capacity * sizeof *device->list);
    if (device->races)
        sc_arena_give(arena, device->races, SC_GRAPH_RACES_MAX * sizeof *device->races);
    *device = (struct sc_graph_device){.list = NULL};
}

static bool make_room(struct sc_graph_device *device, struct sc_arena *arena)
{
    if (device->count < device->capacity)
        return true;
    if (device->count >= SC_GRAPH_DEVICE_MAX)
        return false;
    struct sc_graph_device_use *larger =
        sc_arena_grow(arena, device->list, &device->capacity, sizeof *device->list, CAPACITY_MIN);
    if (larger)
        device->list = larger;
    return larger != NULL;
}

void sc_graph_device_add(struct sc_graph_device *device, struct sc_arena *arena, uintptr_t node,
                         const struct sc_device_use *use)
{
    if (make_room(device, arena))
        device->list[device->count++] = (struct sc_graph_device_use){node, *use};
}

static bool is_of(const struct sc_graph_race *race, uintptr_t node)
{
    return race->of[0].node == node || race->of[1].node == node;
}

static void drop_races(struct sc_graph_device *device, uintptr_t node)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < device->race_count; i++)
        if (node && !is_of(&device->races[i], node))
            device->races[kept++] = device->races[i];
    device->race_count = kept;
}

void sc_graph_device_drop(struct sc_graph_device *device, uintptr_t node)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < device->count; i++)
        if (node && device->list[i].node != node)
            device->list[kept++] = device->list[i];
    device->count = kept;
    device->is_left_out &= node != 0;
    drop_races(device, node);
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

uint32_t sc_graph_device_all(const struct sc_graph_device *device, struct sc_graph_device_use *into,
                             uint32_t room)
{
    uint32_t count = device->is_left_out ? 0 : device->count;
    for (uint32_t i = 0; i < count && i < room; i++)
        into[i] = device->list[i];
    return count;
}

bool sc_graph_device_add_race(struct sc_graph_device *device, struct sc_arena *arena,
                              const struct sc_graph_race *race)
{
    if (!device->races)
        device->races = sc_arena_take(arena, SC_GRAPH_RACES_MAX * sizeof *device->races);
    if (!device->races || device->race_count == SC_GRAPH_RACES_MAX)
        return false;
    device->races[device->race_count++] = *race;
    return true;
}

bool sc_graph_device_next_race(struct sc_graph_device *device, struct sc_graph_race *into,
                               sc_graph_device_is_disabled *is_disabled, void *context)
{
    for (uint32_t i = 0; i < device->race_count; i++) {
        struct sc_graph_race *race = &device->races[i];
        if (race->is_told || is_disabled(context, race->of[0].node) ||
            is_disabled(context, race->of[1].node))
            continue;
        race->is_told = true;
        *into = *race;
        return true;
    }
    return false;
}
