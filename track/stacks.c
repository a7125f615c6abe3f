#include "track/stacks.h"

#include <string.h>

#include "common/depot.h"

#include "common/poison.h"

static struct sc_depot stacks;

/* Returns the id of the call stack, which is stored if it is new. Most calls come from few places,
 * so the look-up finds it mostly. A long stack is cut. 0: no frames, or no room. */
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

/* Returns how many frames the stack has, and where they lie. They stay for ever. */
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

/* Replaces the return addresses of one stored stack that lie in a closed module. With word 0 it
 * only tells whether there is one, and ends the walk with it. */
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

/* A module is closed: replaces its return addresses in all stored stacks by words that name the
 * module (sc_closed_modules_note). */
bool sc_stacks_replace_frames(uintptr_t start, uintptr_t end, uint64_t word)
{
    return sc_depot_visit(&stacks, replace_frames, &(struct renaming){start, end, word});
}
