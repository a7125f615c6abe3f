#include "track/origins.h"

#include <string.h>

#include "common/depot.h"

#include "common/poison.h"

enum { KEY_WORDS = 2, CHUNKS_MAX = 16 };

static struct sc_depot origins;

/* Returns the id of an origin (the call that made a buffer or stream, with its stack and label).
 * Programs make memory in few places, so equal origins are stored once. 0: no memory. */
uint32_t sc_origins_put(const char *api, uint32_t stack, uint32_t label)
{
    const uint64_t key[KEY_WORDS] = {(uintptr_t)api, (uint64_t)label << 32 | stack};
    uint32_t id = sc_depot_find(&origins, key, KEY_WORDS);
    if (id)
        return id;
    uint32_t fresh = sc_depot_reserve(&origins, KEY_WORDS, CHUNKS_MAX);
    if (!fresh)
        return 0;
    memcpy(sc_depot_at(&origins, fresh)->words, key, sizeof key);
    return sc_depot_publish(&origins, fresh, KEY_WORDS);
}

/* Returns the origin with this id, for a report; zeros for id 0, which means that it is not known.
 */
struct sc_origin sc_origins_get(uint32_t id)
{
    if (!id)
        return (struct sc_origin){0};
    const struct sc_depot_record *record = sc_depot_at(&origins, id);
    return (struct sc_origin){(const char *)(uintptr_t)record->words[0], (uint32_t)record->words[1],
                              (uint32_t)(record->words[1] >> 32)};
}
