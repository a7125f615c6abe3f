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
#include <stddef.h>
#include <stdint.h>

extern _Atomic uint64_t sc_stack_cache_closed; /* modules closed so far, which unwind.c counts */

struct sc_stack_known {
    uint32_t id;     /* track/stacks.h */
    uint32_t origin; /* kept for unwind.c: with what follows (track/origins.h) */
    uint32_t label;
    const char *api; /* NULL: none is kept */
};

/* What is public of a thread's table, for sc_stack_cache_recognise alone. */
enum { SC_STACK_CACHE_LATEST_SHIFT = 6, SC_STACK_CACHE_PLACES = 64, SC_STACK_CACHE_AT_A_TIME = 4 };

struct sc_stack_cache_entry {
    struct sc_stack_known known;
    const void *site; /* NULL: it is not all on the stack of the thread, which is there while it
                         runs, or not learnt; */
    uintptr_t depth;  /* 0 then */
    uint32_t misses;  /* since this stack came here */
    uint8_t count;
    bool learnt;
    uint32_t places[SC_STACK_CACHE_PLACES]; /* in words above the key's depth */
    uintptr_t returns[SC_STACK_CACHE_PLACES];
};

struct sc_stack_cache_front {
    uint64_t closed; /* modules, when its entries were learnt */
    struct sc_stack_cache_entry
        *latest[1 << SC_STACK_CACHE_LATEST_SHIFT]; /* that were found, or one of no site */
};

/* Where a thread has no table, one that no look finds anything in. */
extern __thread struct sc_stack_cache_front *sc_stack_cache_front
    __attribute__((tls_model("initial-exec")));

/* A multiple of four: so many at a time, of which the last ones may be twice there. The words are
 * other functions' frames, of which no compiler and no sanitizer knows that we look. */
static inline __attribute__((always_inline, no_sanitize("address", "thread"))) bool
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

static inline struct sc_stack_cache_entry **sc_stack_cache_latest(const void *site, uintptr_t depth)
{
    uint64_t hash = ((uintptr_t)site + depth) * 0x9E3779B97F4A7C15u;
    return &sc_stack_cache_front->latest[hash >> (64 - SC_STACK_CACHE_LATEST_SHIFT)];
}

/* The same as sc_stack_cache_find, without a call: NULL also where that one would find it. */
static inline __attribute__((always_inline)) struct sc_stack_known *
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
