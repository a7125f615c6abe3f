/* Origins: the calls that made buffers and streams, with their stacks, so that a hazard can say
 * where its buffer comes from.
 *
 * An origin is named by a small id. Origins live for ever, as stacks do: programs make memory and
 * streams in few places. 0: not known. Lock-free; safe from any thread, inside libc hooks and in a
 * signal handler. Nothing fails: without memory for another origin, its id is 0. */
#ifndef SC_TRACK_ORIGINS_H
#define SC_TRACK_ORIGINS_H

#include <stdint.h>

struct sc_origin {
    const char *api; /* lives for ever; NULL: not known */
    uint32_t stack;  /* an id of track/stacks.h, 0: none */
    uint32_t label;  /* the label that the program had set (report/annotations.h); 0: none */
};

/* The id of the origin; equal origins have the same id. `api` is a string that lives for ever. */
uint32_t sc_origins_put(const char *api, uint32_t stack, uint32_t label);

/* The origin of an id that sc_origins_put returned, or of 0. */
struct sc_origin sc_origins_get(uint32_t id);

#endif
