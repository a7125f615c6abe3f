/* Keeps for each graph which device memory its launches may write, as its capture has shown. So a
 * launch of one graph is not mistaken for a writer of memory that another graph reads.
 *
 * Work that was left out of a graph is found when a second launch reads what the work has left
 * (track/frozen.h). If every launch of another graph counted as a possible writer of that memory,
 * such work would be found only by chance. So for each graph and its execs, the bytes that copies
 * and memsets write and the addresses that kernels have are kept, as a few intervals, which may
 * contain more than that.
 *
 * A graph of which nothing is kept may write anything. The latest SC_GRAPH_WRITES_MAX graphs and
 * execs are kept. Plain data; zeros are empty. Locks: none; the caller's lock guards every call. */

/* Terms (docs/glossary.md):
 *   exec: an instantiated graph (CUgraphExec)
 *   frozen: of memory: launches read it as work beside the capture left it
 *   left out: of work beside a capture: the graph needs it and lacks it
 */

#ifndef SC_TRACK_GRAPH_WRITES_H
#define SC_TRACK_GRAPH_WRITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SC_GRAPH_WRITES_MAX = 512, SC_GRAPH_INTERVALS_MAX = 32 };

/* Disjoint intervals of bytes, in the order of addresses. `last` is an interval's last byte. */
struct sc_graph_write_intervals {
    unsigned count;
    struct sc_graph_write_interval {
        uintptr_t first, last;
    } of[SC_GRAPH_INTERVALS_MAX];
};

struct sc_graph_write {
    struct sc_graph_write_intervals written; /* bytes */
    /* Addresses that kernels have. A kernel may write from each of them up to the end of the
     * allocation. */
    struct sc_graph_write_intervals named;
};

/* Adds the bytes from `first` to `last`. If there is no room, first joins the two intervals with
 * the smallest gap between them, so that the set only grows. */
void sc_graph_write_add(struct sc_graph_write_intervals *intervals, uintptr_t first,
                        uintptr_t last);

/* Returns true if launches of the graph may write a byte of the memory. `base`: where the memory's
 * allocation begins, since a kernel may write from any address in it to its end. */
bool sc_graph_write_may_touch(const struct sc_graph_write *write, uintptr_t address,
                              size_t size_bytes, uintptr_t base);

struct sc_graph_writes {
    unsigned count, next; /* `next`: the place that is overwritten next */
    /* the graphs and execs that `writes` is of; 0: a free place */
    uintptr_t handles[SC_GRAPH_WRITES_MAX];
    struct sc_graph_write writes[SC_GRAPH_WRITES_MAX];
};

/* Sets what the graph or exec may write. `write` NULL: that is not known, so it may write anything.
 */
void sc_graph_writes_set(struct sc_graph_writes *writes, uintptr_t handle,
                         const struct sc_graph_write *write);

/* Returns what the graph or exec may write, valid until the next change; NULL: not known, so it may
 * write anything. */
const struct sc_graph_write *sc_graph_writes_find(const struct sc_graph_writes *writes,
                                                  uintptr_t handle);

/* Forgets the handle, which was destroyed or belongs to another graph now;
 * sc_graph_writes_forget_all forgets all handles. */
void sc_graph_writes_forget(struct sc_graph_writes *writes, uintptr_t handle);
void sc_graph_writes_forget_all(struct sc_graph_writes *writes);

#endif
