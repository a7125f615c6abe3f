/* Lists of operations that a search has found. Plain data. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   source: the memory that a copy reads
 *   unjudged: of an operation of a graph: its order cannot be seen, so nothing about it is
 *       reported
 */

#ifndef SC_TRACK_OPS_H
#define SC_TRACK_OPS_H

#include <stdbool.h>
#include <stddef.h>

struct sc_op_info;

enum { SC_TRACK_OPS_MAX = 8 };

/* A list of copies of operations that a search has found; the operations themselves may be gone by
 * now. Most searches find nothing, and some threads have small stacks, so the copies lie in memory
 * of their own, which sc_ops_end frees. */
struct sc_ops {
    unsigned count;         /* how many were found; at most the first SC_TRACK_OPS_MAX are kept */
    struct sc_op_info *ops; /* NULL: none is kept */
};

/* Declares a list that is freed at the end of its scope. */
#define SC_OPS(name) __attribute__((cleanup(sc_ops_end))) struct sc_ops name = {0, NULL}

/* Adds a copy of the operation. Without memory the operation is counted only. Lock-free. */
void sc_ops_add(struct sc_ops *ops, const struct sc_op_info *info);
/* Frees the memory of a list that has some (sc_ops_end is for any list). Lock-free. */
void sc_ops_free(struct sc_ops *ops);

/* Adds the operation unless its order cannot be seen, so that nothing may be reported of it
 * (sc_ops_is_unjudged). Returns whether it was added. */
bool sc_ops_add_judged(struct sc_ops *ops, const struct sc_op_info *info);

static inline void sc_ops_end(struct sc_ops *ops)
{
    if (__builtin_expect(ops->ops != NULL, 0))
        sc_ops_free(ops);
}

/* Returns how many of the operations are kept. */
static inline unsigned sc_ops_count_kept(const struct sc_ops *ops)
{
    unsigned most = ops->ops ? SC_TRACK_OPS_MAX : 0;
    return ops->count < most ? ops->count : most;
}

/* Returns a list of the kept operation with this index alone. It shares the memory of `ops`, so it
 * must not be ended. */
struct sc_ops sc_ops_view_one(const struct sc_ops *ops, unsigned i);

/* Returns true if an operation of the list writes host memory, or may do so since it was not kept.
 * The copy to a destination must be complete before its bytes are moved elsewhere; a source may be
 * left behind. */
bool sc_ops_have_destination(const struct sc_ops *ops);

#endif
