/* What device memory the launches of graphs may write, as their captures have told.
 *
 * If a launch of one graph counted as one that may have written what another graph reads, work that
 * was left out of the other one would be found by chance (track/frozen.h). So the bytes that
 * copies and memsets of a graph write, and the addresses that its kernels have, are kept for the
 * graph and for its execs: as a few intervals, which may hold more than that.
 *
 * Of a graph that is not here, or not known, nothing is known. The latest SC_GRAPH_WRITES_MAX are
 * kept. Plain data, of which zeros are empty. Locks: none; the caller's lock guards every call.
 */
#ifndef SC_TRACK_GRAPH_WRITES_H
#define SC_TRACK_GRAPH_WRITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SC_GRAPH_WRITES_MAX = 512, SC_GRAPH_INTERVALS_MAX = 32 };

/* Intervals that do not touch, in order. */
struct sc_graph_write_intervals {
    unsigned count;
    struct sc_graph_write_interval {
        uintptr_t first, last;
    } of[SC_GRAPH_INTERVALS_MAX];
};

struct sc_graph_write {
    struct sc_graph_write_intervals written; /* bytes */
    struct sc_graph_write_intervals named; /* addresses, from each of which on a kernel may write */
};

/* Adds first to last; where there is no room, what lies closest together becomes one. */
void sc_graph_write_add(struct sc_graph_write_intervals *intervals, uintptr_t first,
                        uintptr_t last);

/* May it write a byte of the memory, whose allocation begins at `base`? */
bool sc_graph_write_may_touch(const struct sc_graph_write *write, uintptr_t address,
                              size_t size_bytes, uintptr_t base);

struct sc_graph_writes {
    unsigned count, next;                   /* the place that is used next */
    uintptr_t handles[SC_GRAPH_WRITES_MAX]; /* of graphs and execs; 0: free */
    struct sc_graph_write writes[SC_GRAPH_WRITES_MAX];
};

/* The graph or exec writes no more than that; NULL: that is not known. */
void sc_graph_writes_set(struct sc_graph_writes *writes, uintptr_t handle,
                         const struct sc_graph_write *write);

/* NULL: nothing is known. Good until the next change. */
const struct sc_graph_write *sc_graph_writes_find(const struct sc_graph_writes *writes,
                                                  uintptr_t handle);

/* The handle names nothing any more, or something else. */
void sc_graph_writes_forget(struct sc_graph_writes *writes, uintptr_t handle);
void sc_graph_writes_forget_all(struct sc_graph_writes *writes);

#endif
