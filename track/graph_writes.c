#include "track/graph_writes.h"

#include <string.h>

#include "common/poison.h"

/* ---- intervals ---- */

/* Removes the interval with this index; later ones move up. */
static void remove_interval(struct sc_graph_write_intervals *intervals, unsigned i)
{
    intervals->count--;
    memmove(&intervals->of[i], &intervals->of[i + 1],
            (intervals->count - i) * sizeof *intervals->of);
}

/* How many bytes lie between the interval and the next one? */
static uintptr_t gap_after(const struct sc_graph_write_intervals *intervals, unsigned i)
{
    return intervals->of[i + 1].first - intervals->of[i].last;
}

/* The list is full: joins the two neighbouring intervals with the smallest gap, so that little is
 * counted as written that is not. */
static void join_closest(struct sc_graph_write_intervals *intervals)
{
    unsigned closest = 0;
    for (unsigned i = 1; i + 1 < intervals->count; i++)
        if (gap_after(intervals, i) < gap_after(intervals, closest))
            closest = i;
    intervals->of[closest].last = intervals->of[closest + 1].last;
    remove_interval(intervals, closest + 1);
}

/* Returns the index of the first interval that ends at or after the address, or the count.
 * Intervals are sorted and do not overlap. */
static unsigned find_interval(const struct sc_graph_write_intervals *intervals, uintptr_t address)
{
    unsigned i = 0;
    while (i < intervals->count && intervals->of[i].last < address)
        i++;
    return i;
}

/* Inserts an interval that overlaps no other one. To make room two intervals are joined, which may
 * contain it then. */
static void insert_new(struct sc_graph_write_intervals *intervals, uintptr_t first, uintptr_t last)
{
    if (intervals->count == SC_GRAPH_INTERVALS_MAX)
        join_closest(intervals);
    unsigned i = find_interval(intervals, first);
    if (i < intervals->count && intervals->of[i].first <= first) /* joined just now */
        return;
    memmove(&intervals->of[i + 1], &intervals->of[i],
            (intervals->count - i) * sizeof *intervals->of);
    intervals->of[i] = (struct sc_graph_write_interval){first, last};
    intervals->count++;
}

/* Adds bytes that a graph may write: joins them with all intervals that they overlap. */
void sc_graph_write_add(struct sc_graph_write_intervals *intervals, uintptr_t first, uintptr_t last)
{
    unsigned i = find_interval(intervals, first);
    if (i < intervals->count && intervals->of[i].first <= first && last <= intervals->of[i].last)
        return;
    while (i < intervals->count && intervals->of[i].first <= last) {
        first = intervals->of[i].first < first ? intervals->of[i].first : first;
        last = intervals->of[i].last > last ? intervals->of[i].last : last;
        remove_interval(intervals, i);
    }
    insert_new(intervals, first, last);
}

/* Does any interval overlap the bytes from `first` to `last`? */
static bool meets(const struct sc_graph_write_intervals *intervals, uintptr_t first, uintptr_t last)
{
    unsigned i = find_interval(intervals, first);
    return i < intervals->count && intervals->of[i].first <= last;
}

/* May the graph write a byte of the memory? By a copy or memset into it; or by a kernel that has an
 * address in the same allocation up to its last byte, as a kernel may write from its address to the
 * allocation's end. */
bool sc_graph_write_may_touch(const struct sc_graph_write *write, uintptr_t address,
                              size_t size_bytes, uintptr_t base)
{
    uintptr_t last = address + size_bytes - 1;
    return meets(&write->written, address, last) || meets(&write->named, base, last);
}

/* ---- graphs ---- */

/* Returns the index of the graph or exec; SC_GRAPH_WRITES_MAX: what it writes is not known. Handle
 * 0 marks free places, and is nobody's. */
static unsigned find_handle(const struct sc_graph_writes *writes, uintptr_t handle)
{
    unsigned i = handle && writes->count ? 0 : SC_GRAPH_WRITES_MAX;
    while (i < SC_GRAPH_WRITES_MAX && writes->handles[i] != handle)
        i++;
    return i;
}

/* Notes what the graph writes. The entry that is overwritten is the oldest, whose graph then counts
 * as one that may write anything. Nothing is noted without `write`: so that holds as well. */
void sc_graph_writes_set(struct sc_graph_writes *writes, uintptr_t handle,
                         const struct sc_graph_write *write)
{
    struct sc_graph_write copy;
    if (write)
        copy = *write; /* `write` may lie in the place that is overwritten */
    sc_graph_writes_forget(writes, handle);
    if (!write)
        return;
    writes->count += writes->handles[writes->next] == 0;
    writes->handles[writes->next] = handle;
    writes->writes[writes->next] = copy;
    writes->next = (writes->next + 1) % SC_GRAPH_WRITES_MAX;
}

const struct sc_graph_write *sc_graph_writes_find(const struct sc_graph_writes *writes,
                                                  uintptr_t handle)
{
    unsigned i = find_handle(writes, handle);
    return i < SC_GRAPH_WRITES_MAX ? &writes->writes[i] : NULL;
}

/* The handle is destroyed, or another graph's now: what that writes is not known. */
void sc_graph_writes_forget(struct sc_graph_writes *writes, uintptr_t handle)
{
    unsigned i = find_handle(writes, handle);
    if (i == SC_GRAPH_WRITES_MAX)
        return;
    writes->handles[i] = 0;
    writes->count--;
}

/* Some graph was changed, and nobody knows which: what any of them writes is unknown. */
void sc_graph_writes_forget_all(struct sc_graph_writes *writes)
{
    memset(writes->handles, 0, sizeof writes->handles);
    writes->count = 0;
}
