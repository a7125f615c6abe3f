/* Knows what device memory the launches of each graph may write, as its capture has shown, so that
 * launches of other graphs do not hide work that was left out of one.
 *
 * Work that was left out of a graph is found when a second launch reads what it left
 * (track/frozen.h). If any launch of another graph counted as possibly writing that memory, such
 * work would be found only by chance. So for each graph and its execs the bytes that copies and
 * memsets write, and the addresses that kernels have, are kept. They are kept as a few intervals,
 * which may hold more than that.
 *
 * Of a graph that is not here, or not known, nothing is known. The latest SC_GRAPH_WRITES_MAX are
 * kept. Plain data; zeros are empty. Locks: none; the caller's lock guards every call. */
#ifndef SC_TRACK_GRAPH_WRITES_H
#define SC_TRACK_GRAPH_WRITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SC_GRAPH_WRITES_MAX = 512, SC_GRAPH_INTERVALS_MAX = 32 };

/* Intervals of bytes that do not touch each other, in the order of addresses. `last` is the last
 * byte. */
struct sc_graph_write_intervals {
    unsigned count;
    struct sc_graph_write_interval {
        uintptr_t first, last;
    } of[SC_GRAPH_INTERVALS_MAX];
};

struct sc_graph_write {
    struct sc_graph_write_intervals written; /* bytes */
    /* Addresses of kernels; a kernel may write from each of them on. */
    struct sc_graph_write_intervals named;
};

/* Adds the bytes from `first` to `last`. If there is no room, the two closest intervals become one.
 */
void sc_graph_write_add(struct sc_graph_write_intervals *intervals, uintptr_t first,
                        uintptr_t last);

/* May the graph write a byte of the memory, whose allocation begins at `base`? */
bool sc_graph_write_may_touch(const struct sc_graph_write *write, uintptr_t address,
                              size_t size_bytes, uintptr_t base);

struct sc_graph_writes {
    unsigned count, next;                   /* the place that is used next */
    uintptr_t handles[SC_GRAPH_WRITES_MAX]; /* of graphs and execs; 0: free */
    struct sc_graph_write writes[SC_GRAPH_WRITES_MAX];
};

/* Sets what the graph or exec may write at most; NULL: that is unknown, so it may write
 * anything. */
void sc_graph_writes_set(struct sc_graph_writes *writes, uintptr_t handle,
                         const struct sc_graph_write *write);

/* What the graph or exec may write; NULL: not known. Valid until the next change. */
const struct sc_graph_write *sc_graph_writes_find(const struct sc_graph_writes *writes,
                                                  uintptr_t handle);

/* Forgets what is known of the handle, which was destroyed or is another graph's now. */
void sc_graph_writes_forget(struct sc_graph_writes *writes, uintptr_t handle);
void sc_graph_writes_forget_all(struct sc_graph_writes *writes);

#endif
