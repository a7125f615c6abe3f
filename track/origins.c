#include "track/origins.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "track/depot.h"

#include "track/poison.h"

enum { KEY_WORDS = 2, CHUNKS_MAX = 16, RECENT_SHIFT = 8 };

static struct sc_depot origins;

/* Origins that were put lately: where both words are right, nothing is hashed. */
static _Atomic uint32_t recent[1 << RECENT_SHIFT];

static uint32_t put(const char *api, uint64_t stack_and_label)
{
    const uint64_t key[KEY_WORDS] = {(uintptr_t)api, stack_and_label};
    uint32_t id = sc_depot_find(&origins, key, KEY_WORDS);
    if (id)
        return id;
    uint32_t fresh = sc_depot_reserve(&origins, KEY_WORDS, CHUNKS_MAX);
    if (!fresh)
        return 0;
    memcpy(sc_depot_at(&origins, fresh)->words, key, sizeof key);
    return sc_depot_publish(&origins, fresh, KEY_WORDS);
}

uint32_t sc_origins_put(const char *api, uint32_t stack, uint32_t label)
{
    const uint64_t stack_and_label = (uint64_t)label << 32 | stack;
    _Atomic uint32_t *place = &recent[stack * 2654435761u >> (32 - RECENT_SHIFT)];
    uint32_t id = atomic_load_explicit(place, memory_order_acquire);
    const uint64_t *words = id ? sc_depot_at(&origins, id)->words : NULL;
    if (words && words[0] == (uintptr_t)api && words[1] == stack_and_label)
        return id;
    id = put(api, stack_and_label);
    atomic_store_explicit(place, id, memory_order_release);
    return id;
}

struct sc_origin sc_origins_get(uint32_t id)
{
    if (!id)
        return (struct sc_origin){0};
    const struct sc_depot_record *record = sc_depot_at(&origins, id);
    return (struct sc_origin){(const char *)(uintptr_t)record->words[0], (uint32_t)record->words[1],
                              (uint32_t)(record->words[1] >> 32)};
}
