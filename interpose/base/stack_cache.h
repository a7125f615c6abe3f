/* Recognises call stacks that this thread had before, without unwinding.
 *
 * An entry stores, for a call site at a stack depth, each return address and its place on the
 * stack. If all of them are in their places, the callers are the same. If the unwinder does not
 * return the places, the stack is searched for the addresses. Such a stack is stored only if each
 * address occurs exactly as often as the unwinder returned it, so that a stale copy in a dead local
 * is never taken for a return address. Any other stack is unwound every time.
 *
 * When a module is closed, all entries are dropped: another module may be mapped at the same
 * addresses, with frames of other sizes.
 *
 * Each thread has its own table, and allocates it under a leaf lock when it stores its first stack.
 * Not for a signal handler, whose stack is always unwound. */

/* Terms (docs/glossary.md):
 *   label: what the program calls what it does: a test, a request, a step
 *   origin: the call that made a buffer or a stream, with its stack
 *   site: the address to which a hook or wrapper returns: the program's call
 */

#ifndef SC_INTERPOSE_BASE_STACK_CACHE_H
#define SC_INTERPOSE_BASE_STACK_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern _Atomic uint64_t sc_stack_cache_closed; /* modules closed so far, which unwind.c counts */

/* A stack that was seen before. */
struct sc_stack_known {
    uint32_t id;     /* track/stacks.h */
    uint32_t origin; /* set by unwind.c: the stack, with `label` and `api` */
    uint32_t label;
    const char *api; /* NULL: no origin is kept */
};

/* The part of a thread's table that the inlined sc_stack_cache_recognise reads; only the functions
 * of this module may use it. */
enum { SC_STACK_CACHE_LATEST_SHIFT = 6, SC_STACK_CACHE_PLACES = 64, SC_STACK_CACHE_AT_A_TIME = 4 };

/* A stack that this thread had at a call site (`site`, the return address of the wrapper) and at a
 * depth of the stack (`depth`, an address in the wrapper's frame): its return addresses, and where
 * they lie. */
struct sc_stack_cache_entry {
    struct sc_stack_known known;
    const void *site; /* NULL: not learnt, or not all on the thread's own stack */
    uintptr_t depth;  /* 0 if `site` is NULL */
    uint32_t misses;  /* how often the stack was unwound since it has this entry */
    uint8_t count;
    bool learnt;
    uint32_t places[SC_STACK_CACHE_PLACES]; /* of the return addresses, in words above `depth` */
    uintptr_t returns[SC_STACK_CACHE_PLACES];
};

/* The part of a thread's table that is looked at first: for each hash of site and depth, the entry
 * that was found last. */
struct sc_stack_cache_front {
    uint64_t closed; /* sc_stack_cache_closed, when the entries were learnt */
    struct sc_stack_cache_entry
        *latest[1 << SC_STACK_CACHE_LATEST_SHIFT]; /* the entry found last, or one without a site */
};

/* The calling thread's table; a thread without one has a table in which nothing is found. */
extern __thread struct sc_stack_cache_front *sc_stack_cache_front
    __attribute__((tls_model("initial-exec")));

/* Are all of the entry's return addresses still in their places on the stack? Four are compared at
 * a time, and the last one may be repeated for that. The words belong to other functions' frames,
 * so the reads are hidden from the compiler and from sanitizers. */
static inline __attribute__((always_inline, no_sanitize("address", "thread"))) bool
/* Are all of the entry's return addresses still in their places on the stack? Then the callers are
 * the same as when the entry was made. Four are compared at a time; the entry repeats its last one
 * for that. The words belong to other functions' frames, so the reads are hidden from the compiler
 * and from sanitizers. */
sc_stack_cache_are_there(const struct sc_stack_cache_entry *entry, uintptr_t depth)
{
    const uintptr_t *words = (const uintptr_t *)depth, *returns = entry->returns;
    const uint32_t *places = entry->places, *end = places + entry->count;
    atomic_signal_fence(memory_order_seq_cst);
    for (; places < end; places += SC_STACK_CACHE_AT_A_TIME, returns += SC_STACK_CACHE_AT_A_TIME)
        if (words[places[0]] != returns[0] || words[places[1]] != returns[1] ||
            words[places[2]] != returns[2] || words[places[3]] != returns[3])
            return false;
    return true;
}

/* Returns the place of the entry that was found last for this hash of site and depth; the entry may
 * be of another site. */
static inline struct sc_stack_cache_entry **sc_stack_cache_latest(const void *site, uintptr_t depth)
{
    uint64_t hash = ((uintptr_t)site + depth) * 0x9E3779B97F4A7C15u;
    return &sc_stack_cache_front->latest[hash >> (64 - SC_STACK_CACHE_LATEST_SHIFT)];
}

/* Returns the entry of the current stack, or NULL, as sc_stack_cache_find does, but faster; it may
 * return NULL for a stack that sc_stack_cache_find finds. */
static inline __attribute__((always_inline)) struct sc_stack_known *
/* Returns the entry of the current stack, or NULL, as sc_stack_cache_find does, but faster: it
 * looks at one entry, that was found last for this site and depth. A module that was closed
 * meanwhile makes all entries wrong. */
sc_stack_cache_recognise(const void *site, uintptr_t depth)
{
    struct sc_stack_cache_front *front = sc_stack_cache_front;
    if (front->closed != atomic_load_explicit(&sc_stack_cache_closed, memory_order_relaxed))
        return NULL;
    struct sc_stack_cache_entry *entry = *sc_stack_cache_latest(site, depth);
    return entry->site == site && entry->depth == depth && sc_stack_cache_are_there(entry, depth)
               ? &entry->known
               : NULL;
}

/* Returns the entry of the current stack, or NULL. `depth`: an address in the caller's frame, the
 * same for every call by the same callers. The result is valid until this thread stores another
 * stack. */
struct sc_stack_known *sc_stack_cache_find(const void *site, uintptr_t depth);

/* A function that stores in `places` where the return addresses frames[1], frames[2] and so on lie.
 * False: not known. */
typedef bool sc_stack_cache_place(void *const *frames, unsigned count, uintptr_t *places);

/* Stores a stack that the unwinder has just found at this site and depth, when it is found for the
 * second time. `id`: what sc_stacks_put has returned for the frames. `place`: NULL if the unwinder
 * cannot return places. */
void sc_stack_cache_learn(const void *site, uintptr_t depth, uint32_t id, void *const *frames,
                          unsigned count, sc_stack_cache_place *place);

#endif
