#include "track/graph_device.h"

#include "track/shape.h"

#include "track/poison.h"

/* Four times as many are added until there are SC_GRAPH_DEVICE_MAX. */
enum { CAPACITY_MIN = 8, OWN_MIN = 4 };

void sc_graph_device_give(struct sc_graph_device *device, struct sc_arena *arena)
{
    if (device->list)
        sc_arena_give(arena, device->list, device->capacity * sizeof *device->list);
    if (device->races)
        sc_arena_give(arena, device->races, SC_GRAPH_RACES_MAX * sizeof *device->races);
    if (device->own)
        sc_arena_give(arena, device->own, device->own_capacity * sizeof *device->own);
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

/* ---- memory that nodes allocate or free ---- */

static bool make_room_for_own(struct sc_graph_device *device, struct sc_arena *arena)
{
    if (device->own_count < device->own_capacity)
        return true;
    struct sc_graph_own *larger =
        device->own_count < SC_GRAPH_OWN_MAX
            ? sc_arena_grow(arena, device->own, &device->own_capacity, sizeof *device->own, OWN_MIN)
            : NULL;
    if (larger)
        device->own = larger;
    return larger != NULL;
}

bool sc_graph_device_own(struct sc_graph_device *device, struct sc_arena *arena,
                         const struct sc_graph_own *own)
{
    bool has_room = make_room_for_own(device, arena);
    if (has_room)
        device->own[device->own_count++] = *own;
    return has_room;
}

static bool is_own(const struct sc_graph_device *device, uintptr_t address, size_t size_bytes)
{
    for (uint32_t i = 0; i < device->own_count; i++) {
        const struct sc_graph_own *own = &device->own[i];
        if (own->size_bytes && address < own->address + own->size_bytes &&
            own->address < address + size_bytes)
            return true;
    }
    return false;
}

static bool uses_own(const struct sc_graph_device *device, const struct sc_device_use *use)
{
    return device->own_count &&
           is_own(device, use->shape.address, sc_shape_hull_bytes(&use->shape));
}

static bool is_allocated_here(const struct sc_graph_device *device, uintptr_t address)
{
    for (uint32_t i = 0; i < device->own_count; i++) {
        const struct sc_graph_own *own = &device->own[i];
        if (!own->freed_by && address - own->address < own->size_bytes)
            return true;
    }
    return false;
}

static void append(struct sc_graph_device *device, struct sc_arena *arena, uintptr_t node,
                   const struct sc_device_use *use)
{
    if (make_room(device, arena))
        device->list[device->count++] = (struct sc_graph_device_use){.node = node, .use = *use};
}

static void append_free(struct sc_graph_device *device, struct sc_arena *arena,
                        const struct sc_graph_own *own)
{
    const struct sc_device_use use = {.shape = {own->address, 1, 1, 1}, .direction = SC_FREE};
    append(device, arena, own->freed_by, &use);
}

void sc_graph_device_settle(struct sc_graph_device *device, struct sc_arena *arena)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < device->own_count; i++)
        if (!device->own[i].size_bytes && !is_own(device, device->own[i].address, 1))
            sc_graph_device_leave_out(device);
    for (uint32_t i = 0; i < device->count; i++)
        if (!uses_own(device, &device->list[i].use))
            device->list[kept++] = device->list[i];
    device->count = kept;
    for (uint32_t i = 0; i < device->own_count; i++)
        if (device->own[i].freed_by && !is_allocated_here(device, device->own[i].address))
            append_free(device, arena, &device->own[i]);
}

/* ---- what nodes do ---- */

void sc_graph_device_add(struct sc_graph_device *device, struct sc_arena *arena, uintptr_t node,
                         const struct sc_device_use *use)
{
    if (!device->is_left_out && !uses_own(device, use))
        append(device, arena, node, use);
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
    device->own_count = node ? device->own_count : 0;
    device->steps = node ? device->steps : 0;
    drop_races(device, node);
}

void sc_graph_device_leave_out(struct sc_graph_device *device)
{
    device->is_left_out = true;
    device->count = device->race_count = 0;
}

static void place_use(struct sc_graph_device *device, struct sc_graph_device_use *use,
                      const struct sc_graph_device_use *place)
{
    use->told = place->told ? place->told : use->told;
    use->unsure |= place->unsure;
    device->steps |= 1u << use->told;
}

void sc_graph_device_place_node(struct sc_graph_device *device, uintptr_t node,
                                const struct sc_graph_device_use *place)
{
    for (uint32_t i = 0; i < device->count; i++)
        if (device->list[i].node == node)
            place_use(device, &device->list[i], place);
}

static uint64_t value_in(struct sc_handles *set, uintptr_t node)
{
    return set ? sc_handles_get(set, node) : 0;
}

void sc_graph_device_place(struct sc_graph_device *device,
                           const struct sc_graph_device_places *places)
{
    for (uint32_t i = 0; i < device->count; i++) {
        struct sc_graph_device_use *use = &device->list[i];
        uint64_t step = value_in(places->steps, use->node);
        const struct sc_graph_device_use place = {
            .told = (uint8_t)(step ? step - 1 : 0),
            .unsure = (uint8_t)value_in(places->unsure, use->node),
        };
        place_use(device, use, &place);
    }
}

const struct sc_graph_device_use *sc_graph_device_of(const struct sc_graph_device *device,
                                                     uintptr_t node)
{
    for (uint32_t i = 0; i < device->count; i++)
        if (device->list[i].node == node)
            return &device->list[i];
    return NULL;
}

static bool is_listed(const struct sc_graph_device *device, const struct sc_graph_device_use *use,
                      int which)
{
    bool is_unsure = use->told && device->unsure >> use->told & 1;
    bool is_noted = which >= 0 || which == SC_GRAPH_DEVICE_IN_FLIGHT;
    enum sc_ordering ordering = sc_ordering_of(use->unsure, is_noted ? SC_AS_EARLIER : SC_AS_LATER);
    if (is_unsure || ordering == SC_ORDER_UNKNOWN)
        return false;
    switch (which) {
    case SC_GRAPH_DEVICE_ALL:
    case SC_GRAPH_DEVICE_IN_FLIGHT:
        return true;
    case SC_GRAPH_DEVICE_FREE:
        return ordering == SC_ORDER_CERTAIN;
    case SC_GRAPH_DEVICE_GATED:
        return ordering == SC_ORDER_POSSIBLE;
    default:
        return use->told == which;
    }
}

uint32_t sc_graph_device_list(const struct sc_graph_device *device, uint32_t *at, int which,
                              struct sc_device_use *into, uint32_t room,
                              sc_graph_device_is_disabled *is_disabled, void *context)
{
    uint32_t count = 0;
    for (; *at < device->count && count < room; ++*at) {
        const struct sc_graph_device_use *use = &device->list[*at];
        if (is_listed(device, use, which) && !is_disabled(context, use->node))
            into[count++] = use->use;
    }
    return count;
}

uint32_t sc_graph_device_all(const struct sc_graph_device *device, struct sc_graph_device_use *into,
                             uint32_t room)
{
    for (uint32_t i = 0; i < device->count && i < room; i++)
        into[i] = device->list[i];
    return device->count;
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

/* What a value orders is behind a wait for it, and may be behind any other node. */
static bool is_unjudged(const struct sc_graph_device *device, const struct sc_graph_race *race)
{
    for (uint32_t i = 0; i < device->count; i++)
        if ((device->list[i].unsure & SC_UNSURE_UNJUDGED) && is_of(race, device->list[i].node))
            return true;
    return false;
}

bool sc_graph_device_next_race(struct sc_graph_device *device, struct sc_graph_race *into,
                               sc_graph_device_is_disabled *is_disabled, void *context)
{
    for (uint32_t i = 0; i < device->race_count; i++) {
        struct sc_graph_race *race = &device->races[i];
        if (race->is_told || is_disabled(context, race->of[0].node) ||
            is_disabled(context, race->of[1].node) || is_unjudged(device, race))
            continue;
        race->is_told = true;
        *into = *race;
        return true;
    }
    return false;
}
