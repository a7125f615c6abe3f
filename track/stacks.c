#include "track/stacks.h"

#include <stddef.h>
#include <string.h>

#include "common/depot.h"

#include "common/poison.h"

static struct sc_depot stacks;

/* Looks the stack up, and stores it if it is new. */
uint32_t sc_stacks_put(void *const *frames, unsigned count)
{
    if (count == 0)
        return 0;
    if (count > SC_STACK_DEPTH_MAX)
        count = SC_STACK_DEPTH_MAX;
    uint32_t id = sc_depot_find(&stacks, frames, count);
    if (id)
        return id;
    uint32_t fresh = sc_depot_reserve(&stacks, count, SC_DEPOT_CHUNKS_MAX);
    if (!fresh)
        return 0;
    memcpy(sc_depot_at(&stacks, fresh)->words, frames, count * sizeof *frames);
    return sc_depot_publish(&stacks, fresh, count);
}

unsigned sc_stacks_get(uint32_t id, void *const **frames)
{
    if (!id)
        return 0;
    struct sc_depot_record *record = sc_depot_at(&stacks, id);
    *frames = (void *const *)(void *)record->words;
    return record->key_words;
}

struct renaming {
    uintptr_t start, end;
    uint64_t word;
};

/* Replaces the frames of one stored stack. Returns true, which ends the walk, if the question was
 * only whether there is any such frame and there is. */
static bool replace_frames(struct sc_depot_record *record, void *context)
{
    const struct renaming *renaming = context;
    bool any = false;
    for (uint32_t i = 0; i < record->key_words; i++) {
        const uint64_t frame = record->words[i];
        if (frame - renaming->start >= renaming->end - renaming->start)
            continue;
        any = true;
        if (renaming->word) /* no _Atomic: keys are compared as bytes */
            __atomic_store_n(&record->words[i], renaming->word + (frame - renaming->start),
                             __ATOMIC_RELAXED);
    }
    return any && !renaming->word;
}

bool sc_stacks_replace_frames(uintptr_t start, uintptr_t end, uint64_t word)
{
    return sc_depot_visit(&stacks, replace_frames, &(struct renaming){start, end, word});
}
