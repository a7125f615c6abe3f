/* Stacks that this thread has been seen with, recognised without unwinding.
 *
 * An entry remembers, for a call site at a stack depth, where on the stack each return address lies
 * and what it was. If all of them are still there, the chain of callers is the same one. Where the
 * unwinder cannot name the places, they are learnt by searching the stack for the addresses that it
 * reported. Then a stack is learnt only if each address occurs exactly as often as reported, so
 * that a stale copy in a dead local is never taken for the real one. Any other stack is unwound
 * every time.
 *
 * When a module is closed, all is forgotten: another one may be mapped in its place, whose frames
 * look the same but for where they end.
 *
 * Per thread. A thread that learns its first stack takes a table, under a leaf lock. Not for a
 * signal handler, which has its stack unwound.
 */
#ifndef SC_INTERPOSE_BASE_STACK_CACHE_H
#define SC_INTERPOSE_BASE_STACK_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic uint64_t sc_stack_cache_closed; /* modules closed so far, which unwind.c counts */

struct sc_stack_known {
    uint32_t id;     /* track/stacks.h */
    uint32_t origin; /* kept for unwind.c: with what follows (track/origins.h) */
    uint32_t label;
    const char *api; /* NULL: none is kept */
};

/* A stack that was seen before, or NULL. `depth` is an address in the caller's own frame, the same
 * for every call along the same path. It is good until another stack is learnt. */
struct sc_stack_known *sc_stack_cache_find(const void *site, uintptr_t depth);

/* Says in `places` where the return addresses to frames[1] and on lie. False: it cannot. */
typedef bool sc_stack_cache_place(void *const *frames, unsigned count, uintptr_t *places);

/* The unwinder has just found this stack there, and `id` is what sc_stacks_put has made of these
 * frames. Learns it at the second time. `place` is NULL where no unwinder can tell. */
void sc_stack_cache_learn(const void *site, uintptr_t depth, uint32_t id, void *const *frames,
                          unsigned count, sc_stack_cache_place *place);

#endif
