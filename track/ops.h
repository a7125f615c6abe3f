/* Lists of operations that a look-up has found: plain data. */
#ifndef SC_TRACK_OPS_H
#define SC_TRACK_OPS_H

#include <stdbool.h>
#include <stddef.h>

struct sc_op_info;

enum { SC_TRACK_OPS_MAX = 8 };

/* A list of operations that a search has found, by value, since they may be gone by now. Most
 * searches find nothing, and some threads have small stacks, so what is found lies in a block of
 * its own until sc_ops_end. */
struct sc_ops {
    unsigned count;         /* how many there were; the first SC_TRACK_OPS_MAX are kept */
    struct sc_op_info *ops; /* NULL: none is kept */
};

/* A list of operations that ends with the scope in which it is declared. */
#define SC_OPS(name) __attribute__((cleanup(sc_ops_end))) struct sc_ops name = {0, NULL}

/* Adds a copy of the operation. Without memory the operation is counted and not kept. Lock-free. */
void sc_ops_add(struct sc_ops *ops, const struct sc_op_info *info);
/* Frees the memory of a list that is not empty, for sc_ops_end, which is for any list.
 * Lock-free. */
void sc_ops_free(struct sc_ops *ops);

/* Adds the operation if it is to be judged. Returns whether it is. */
bool sc_ops_add_judged(struct sc_ops *ops, const struct sc_op_info *info);

static inline void sc_ops_end(struct sc_ops *ops)
{
    if (__builtin_expect(ops->ops != NULL, 0))
        sc_ops_free(ops);
}

/* How many of the operations are kept. */
static inline unsigned sc_ops_count_kept(const struct sc_ops *ops)
{
    unsigned most = ops->ops ? SC_TRACK_OPS_MAX : 0;
    return ops->count < most ? ops->count : most;
}

/* A list of the kept operation with this index alone. It shares the memory of `ops`, and is not to
 * be ended. */
struct sc_ops sc_ops_view_one(const struct sc_ops *ops, unsigned i);

/* Does an operation of the list write host memory, or may one that was not kept? A destination must
 * be complete before its bytes move elsewhere; a source may be left behind. */
bool sc_ops_have_destination(const struct sc_ops *ops);

#endif
