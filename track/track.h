/* The tracker: what is in flight, what is ordered, what must be held.
 *
 * Locks: one over all parts of the tracker, and within it one of each event. Under the lock no CUDA
 * function and no allocator is called, no I/O is done, and no other lock is taken. So the hooks of
 * libc may take it even inside the driver. errno is kept. Only functions that say "lock-free" are
 * safe in a signal handler.
 *
 * A part is a module with a header of its own, whose functions need the lock. To call them, a
 * caller opens a scope, which takes the lock and names the parts:
 *
 *   SC_TRACK_SCOPE(track);                      until the end of the block
 *   sc_graphs_drop_node(track.graphs, exec, node);
 *   SC_TRACKED(sc_graphs_drop_node(track.graphs, exec, node));      for one expression
 *
 * The functions of the tracker itself (sc_track_*) are for what takes several parts, or what is
 * mostly answered without the lock. Each takes the lock for itself and is called outside of scopes,
 * unless its comment says "lock-free".
 *
 * Handles are the driver's own (CUstream, CUevent) as integers. Streams are named by the ids that
 * sc_track_add_stream gave them. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_TRACK_H
#define SC_TRACK_TRACK_H

#include <stdbool.h>

#include "common/checks.h"

struct SC_LOCK sc_track;

/* The process's tracker. Tests make trackers of their own. */
extern struct sc_track sc_track;

/* The parts of a tracker, for a caller that has its lock. A function that takes a scope as a
 * parameter needs the lock. */
struct sc_track_scope {
    struct sc_track *track;
    struct sc_order *order SC_GUARDED_BY(sc_track);
    struct sc_inflight *inflight SC_GUARDED_BY(sc_track);
    struct sc_spans *guards SC_GUARDED_BY(sc_track);
    struct sc_holds *holds SC_GUARDED_BY(sc_track);
    struct sc_graphs *graphs SC_GUARDED_BY(sc_track);
    struct sc_events *events SC_GUARDED_BY(sc_track);
    struct sc_allocations *allocations SC_GUARDED_BY(sc_track);
};

/* Take the tracker's lock and return its parts, which may be used until sc_track_leave releases the
 * lock. Called by the macros below alone. */
struct sc_track_scope sc_track_enter(struct sc_track *track) SC_ENTERS(*track);
void sc_track_leave(const struct sc_track_scope *scope);

#define SC_TRACK_SCOPE_OF(tracker, name)                                                           \
    __attribute__((cleanup(sc_track_leave))) const struct sc_track_scope name =                    \
        sc_track_enter(tracker)
#define SC_TRACK_SCOPE(name) SC_TRACK_SCOPE_OF(&sc_track, name)

/* The value of the expression, which is evaluated under the lock and uses the scope as `track`. */
#define SC_TRACKED(...) SC_TRACKED_OF(&sc_track, __VA_ARGS__)

#ifndef SC_CHECK_LOCKS
#define SC_TRACKED_OF(tracker, ...)                                                                \
    __extension__({                                                                                \
        SC_TRACK_SCOPE_OF(tracker, track);                                                         \
        __VA_ARGS__;                                                                               \
    })
#else
/* For clang's thread safety analysis alone, which does not follow cleanup attributes: they stand
 * for the beginning and the end of the scope, and no build calls them. */
struct sc_track_scope sc_track_analysis_begin(struct sc_track *track) SC_ACQUIRES(*track);
void sc_track_analysis_end(struct sc_track *track) SC_RELEASES(*track);
#define SC_VALUE_(...) /* the value; 0 for an expression without one */                            \
    __builtin_choose_expr(__builtin_types_compatible_p(__typeof__(__VA_ARGS__), void),             \
                          ((void)(__VA_ARGS__), 0), (__VA_ARGS__))
#define SC_TRACKED_OF(tracker, ...)                                                                \
    __extension__({                                                                                \
        const struct sc_track_scope track = sc_track_analysis_begin(tracker);                      \
        __typeof__(SC_VALUE_(__VA_ARGS__)) value_ = SC_VALUE_(__VA_ARGS__);                        \
        sc_track_analysis_end(tracker);                                                            \
        value_;                                                                                    \
    })
#endif

int sc_track_init(struct sc_track *track); /* 0 or -ENOMEM */

/* Sets two options, before the first stream is added; without this call both are off.
 * `watches_device`: device memory is watched. `guards_until_known`: the pages of operations are
 * protected until the host knows that the operations are done, and not only until they are
 * complete. */
void sc_track_start(struct sc_track *track, bool watches_device, bool guards_until_known);

/* Has free() and munmap() look at nothing any more: in a forked child nothing is in flight. */
void sc_track_ignore_libc(struct sc_track *track);

#endif
