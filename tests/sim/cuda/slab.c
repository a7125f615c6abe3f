/* Objects of one size, handed out again last freed first. The memory is never unmapped, so that a
 * handle used after its end still has a magic to be refused by. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#define SLAB_BYTES ((size_t)64 << 10)

void *sim_slab_take_locked(struct sim_slab *slab)
{
    void *object = slab->free;
    if (!object) {
        size_t count = SLAB_BYTES / slab->size;
        char *chunk = malloc(count * slab->size);
        if (!chunk)
            return NULL;
        memset(chunk, 0, count * slab->size);
        for (size_t i = 0; i < count; i++)
            sim_slab_give_locked(slab, chunk + i * slab->size);
        object = slab->free;
    }
    /* The link is the object's last word: a magic at its start outlives the object. */
    memcpy(&slab->free, (char *)object + slab->size - sizeof(void *), sizeof(void *));
    memset(object, 0, slab->size);
    return object;
}

void sim_slab_give_locked(struct sim_slab *slab, void *object)
{
    memcpy((char *)object + slab->size - sizeof(void *), &slab->free, sizeof(void *));
    slab->free = object;
}
