/* Origins: an origin is the call that made a buffer or a stream, with its stack. A hazard is
 * reported with the origin of its buffer.
 *
 * An origin is named by a small id, and lives for ever, as stacks do: programs make memory and
 * streams in few places. Id 0: not known. Lock-free; safe on any thread, inside of libc hooks and
 * in a signal handler. No function fails: if there is no memory for another origin, its id is 0. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   hook: our function in the place of one of the C library's
 *   label: what the program calls what it does: a test, a request, a step
 *   origin: the call that made a buffer or a stream, with its stack
 */

#ifndef SC_TRACK_ORIGINS_H
#define SC_TRACK_ORIGINS_H

#include <stdint.h>

struct sc_origin {
    const char *api; /* a string that lives for ever; NULL: not known */
    uint32_t stack;  /* id of the call's stack (track/stacks.h); 0: none */
    /* the label that the program had set at the call (report/annotations.h); 0: none */
    uint32_t label;
};

/* Returns the id of the origin (the call that made a buffer or a stream) with these members; 0: no
 * memory. Equal origins have the same id. `api`: a string that lives for ever. */
uint32_t sc_origins_put(const char *api, uint32_t stack, uint32_t label);

/* Returns the origin (the call that made a buffer or a stream) with this id; for 0, one of zeros.
 */
struct sc_origin sc_origins_get(uint32_t id);

#endif
