/* What is not watched, and why: operations on host memory whose early touches would be missed, in
 * whole or on some of their pages.
 *
 * Counters that only grow. Lock-free; thread- and signal-safe.
 */
#ifndef SC_TRACK_UNGUARDED_H
#define SC_TRACK_UNGUARDED_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* X(reason, name in the report, words in the summary) */
#define SC_UNGUARDED_REASONS(X)                                                                    \
    X(OFF, "off", "guard=off")                                                                     \
    X(MAPPINGS, "mappings", "no mapping left (vm.max_map_count)")                                  \
    X(SHARED_PAGE, "shared_page", "pages shared with other memory")                                \
    X(NEIGHBOURS, "neighbours", "pages touched beside the copied bytes")                           \
    X(KERNEL, "kernel", "pages that system calls or locks of the program use")                     \
    X(MEMORY, "memory", "memory that may not be protected")                                        \
    X(STACK, "stack", "stacks")                                                                    \
    X(PAGEABLE, "pageable", "pageable memory")                                                     \
    X(UNSEEN, "unseen", "operations whose order the host decides unseen")                          \
    X(HANDLER, "handler", "no handler or thread of the library to be had, or no more")             \
    X(BLOCKED, "blocked", "a thread has SIGSEGV blocked")                                          \
    X(DATA_LIMIT, "data_limit", "the process's data is limited (ulimit -d)")

enum sc_unguarded_reason {
#define X(reason, name, words) SC_UNGUARDED_##reason,
    SC_UNGUARDED_REASONS(X)
#undef X
        SC_UNGUARDED_COUNT
};

struct sc_unguarded {
    struct {
        _Atomic uint64_t operations;
        _Atomic uint64_t bytes;
    } by_reason[SC_UNGUARDED_COUNT];
};

static inline void sc_unguarded_add(struct sc_unguarded *unguarded, enum sc_unguarded_reason reason,
                                    uint64_t operations, uint64_t size_bytes)
{
    if (operations == 0 && size_bytes == 0)
        return;
    atomic_fetch_add_explicit(&unguarded->by_reason[reason].operations, operations,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&unguarded->by_reason[reason].bytes, size_bytes,
                              memory_order_relaxed);
}

static inline void sc_unguarded_note(struct sc_unguarded *unguarded,
                                     enum sc_unguarded_reason reason, size_t size_bytes)
{
    sc_unguarded_add(unguarded, reason, 1, size_bytes);
}

/* The operations of one reason, and the sum over all reasons; 0 for NULL. An operation counts for
 * each reason that it has. */
static inline uint64_t sc_unguarded_of(const struct sc_unguarded *unguarded, unsigned reason)
{
    return unguarded ? atomic_load_explicit(&unguarded->by_reason[reason].operations,
                                            memory_order_relaxed)
                     : 0;
}

static inline uint64_t sc_unguarded_operations(const struct sc_unguarded *unguarded)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < SC_UNGUARDED_COUNT; i++)
        sum += sc_unguarded_of(unguarded, i);
    return sum;
}

/* Operations that would have been watched if the process had been given what that takes. */
static inline uint64_t sc_unguarded_given_up(const struct sc_unguarded *unguarded)
{
    return sc_unguarded_of(unguarded, SC_UNGUARDED_MAPPINGS) +
           sc_unguarded_of(unguarded, SC_UNGUARDED_HANDLER) +
           sc_unguarded_of(unguarded, SC_UNGUARDED_BLOCKED) +
           sc_unguarded_of(unguarded, SC_UNGUARDED_DATA_LIMIT);
}

static inline uint64_t sc_unguarded_bytes(const struct sc_unguarded *unguarded)
{
    uint64_t sum = 0;
    for (unsigned i = 0; unguarded && i < SC_UNGUARDED_COUNT; i++)
        sum += atomic_load_explicit(&unguarded->by_reason[i].bytes, memory_order_relaxed);
    return sum;
}

#endif
