/* Counts what got no verdict (neither hazard nor correct), by the reason why. Nothing else in the
 * process counts this. Three units are counted:
 *
 * - *Operations that are not watched*: operations on host memory of which an early access would be
 *   missed, wholly or on some of their pages.
 * - *Touches*: reads, writes and frees, by the program or by a call of it, of memory in flight.
 *   They were seen, and it is not known whether they came too early.
 * - *Operations*: those that may be unordered with an earlier or a later operation, where the order
 *   is not known.
 *
 * Counters only grow. Lock-free; thread- and signal-safe. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   in flight: issued, and the host does not know yet that it is done
 *   not watched: of an operation: an early touch of it could not be seen
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 *   verdict: observed, latent, correct, or none
 */

#ifndef SC_TRACK_NO_VERDICTS_H
#define SC_TRACK_NO_VERDICTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* X(reason, name in the report, words in the summary) */
#define SC_NO_VERDICT_REASONS(X)                                                                   \
    X(OFF, "off", "the guard is off")                                                              \
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
    X(DATA_LIMIT, "data_limit", "the process's data is limited (ulimit -d)")                       \
    X(BUDGET, "budget", "no time left for them (guard_budget)")                                    \
    X(HOST_FUNCTION, "host_function", "host functions that may have waited for the program")       \
    X(HOST_NODE, "host_node", "host functions of graphs, of which the order is not known")         \
    X(WAITING_KERNEL, "waiting_kernel", "kernels that may have waited for the program")            \
    X(HEARD, "heard", "the program may have heard of the end in a way that is not seen")           \
    X(TAKEN_EARLY, "taken_early", "small sources that the driver may have taken early")            \
    X(ROOM, "room", "no room left in the library's tables")                                        \
    X(CAPTURE, "capture",                                                                          \
      "work beside captures (SC305): no room, or memory that the graph does not use")

enum sc_no_verdict_reason {
#define X(reason, name, words) SC_NO_VERDICT_##reason,
    SC_NO_VERDICT_REASONS(X)
#undef X
        SC_NO_VERDICT_COUNT
};

enum sc_no_verdict_unit {
    SC_NO_VERDICT_UNWATCHED,
    SC_NO_VERDICT_TOUCHES,
    SC_NO_VERDICT_OPERATIONS,
    SC_NO_VERDICT_UNITS
};

struct sc_no_verdicts {
    struct {
        _Atomic uint64_t uses[SC_NO_VERDICT_UNITS];
        _Atomic uint64_t bytes; /* bytes of operations that are not watched */
    } by_reason[SC_NO_VERDICT_COUNT];
};

/* Counts `count` uses that get no verdict for this reason. `counts` NULL: counts nothing. */
static inline void sc_no_verdicts_add(struct sc_no_verdicts *counts, enum sc_no_verdict_unit unit,
                                      enum sc_no_verdict_reason reason, uint64_t count)
{
    if (counts && count)
        atomic_fetch_add_explicit(&counts->by_reason[reason].uses[unit], count,
                                  memory_order_relaxed);
}

static inline void sc_no_verdicts_add_unwatched(struct sc_no_verdicts *counts,
                                                enum sc_no_verdict_reason reason,
                                                uint64_t operations, uint64_t size_bytes)
{
    if (operations == 0 && size_bytes == 0)
        return;
    sc_no_verdicts_add(counts, SC_NO_VERDICT_UNWATCHED, reason, operations);
    atomic_fetch_add_explicit(&counts->by_reason[reason].bytes, size_bytes, memory_order_relaxed);
}

static inline void sc_no_verdicts_note_unwatched(struct sc_no_verdicts *counts,
                                                 enum sc_no_verdict_reason reason,
                                                 size_t size_bytes)
{
    sc_no_verdicts_add_unwatched(counts, reason, 1, size_bytes);
}

static inline uint64_t sc_no_verdicts_bytes_of(const struct sc_no_verdicts *counts, unsigned reason)
{
    return counts ? atomic_load_explicit(&counts->by_reason[reason].bytes, memory_order_relaxed)
                  : 0;
}

/* Return how many uses got no verdict: sc_no_verdicts_of, of one unit for one reason;
 * sc_no_verdicts_of_unit, of one unit for all reasons; sc_no_verdicts_of_reason, of all units for
 * one reason. A use with several reasons counts for each. NULL: 0. */
static inline uint64_t sc_no_verdicts_of(const struct sc_no_verdicts *counts,
                                         enum sc_no_verdict_unit unit, unsigned reason)
{
    return counts
               ? atomic_load_explicit(&counts->by_reason[reason].uses[unit], memory_order_relaxed)
               : 0;
}

static inline uint64_t sc_no_verdicts_of_unit(const struct sc_no_verdicts *counts,
                                              enum sc_no_verdict_unit unit)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < SC_NO_VERDICT_COUNT; i++)
        sum += sc_no_verdicts_of(counts, unit, i);
    return sum;
}

static inline uint64_t sc_no_verdicts_of_reason(const struct sc_no_verdicts *counts,
                                                unsigned reason)
{
    uint64_t sum = 0;
    for (unsigned unit = 0; unit < SC_NO_VERDICT_UNITS; unit++)
        sum += sc_no_verdicts_of(counts, (enum sc_no_verdict_unit)unit, reason);
    return sum;
}

/* Returns how many uses without a verdict may have been hazards: touches of memory in flight, and
 * operations that conflict with another one unless an order exists that the library did not see. */
static inline uint64_t sc_no_verdicts_suspected(const struct sc_no_verdicts *counts)
{
    static const enum sc_no_verdict_reason reasons[] = {
        SC_NO_VERDICT_HOST_FUNCTION, SC_NO_VERDICT_WAITING_KERNEL, SC_NO_VERDICT_HEARD};
    uint64_t sum = sc_no_verdicts_of_unit(counts, SC_NO_VERDICT_TOUCHES);
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        sum += sc_no_verdicts_of(counts, SC_NO_VERDICT_OPERATIONS, reasons[i]);
    return sum;
}

/* Returns how many operations were not watched (an early access would be missed) because the
 * process lacks what guarding needs (mappings, a SIGSEGV handler, data memory), or because the user
 * has limited it (guard_budget). */
static inline uint64_t sc_no_verdicts_given_up(const struct sc_no_verdicts *counts)
{
    static const enum sc_no_verdict_reason reasons[] = {
        SC_NO_VERDICT_MAPPINGS, SC_NO_VERDICT_HANDLER, SC_NO_VERDICT_BLOCKED,
        SC_NO_VERDICT_DATA_LIMIT, SC_NO_VERDICT_BUDGET};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        sum += sc_no_verdicts_of(counts, SC_NO_VERDICT_UNWATCHED, reasons[i]);
    return sum;
}

#endif
