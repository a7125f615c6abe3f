/* Operations that were found, as a list: plain data. */
#ifndef SC_TRACK_OPS_H
#define SC_TRACK_OPS_H

#include <stdbool.h>
#include <stddef.h>

struct sc_op_info;

enum { SC_TRACK_OPS_MAX = 8 };

/* Operations that were found, by value: they may be gone by now. Most look-ups find nothing, and
 * some threads have small stacks, so what is found lies in a block of its own until sc_ops_end. */
struct sc_ops {
    unsigned count;         /* how many there were; the first SC_TRACK_OPS_MAX are kept */
    struct sc_op_info *ops; /* NULL: none is kept */
};

/* A list of operations that ends with the scope in which it is declared. */
#define SC_OPS(name) __attribute__((cleanup(sc_ops_end))) struct sc_ops name = {0, NULL}

/* Adds an operation, and ends the list. Both are lock-free. Without memory the operation is counted
 * and not kept. */
void sc_ops_add(struct sc_ops *ops, const struct sc_op_info *info);
void sc_ops_give_back(struct sc_ops *ops);

/* False: the operation is not to be judged, and is not added. */
bool sc_ops_add_judged(struct sc_ops *ops, const struct sc_op_info *info);

static inline void sc_ops_end(struct sc_ops *ops)
{
    if (__builtin_expect(ops->ops != NULL, 0))
        sc_ops_give_back(ops);
}

/* How many are kept. */
static inline unsigned sc_ops_kept(const struct sc_ops *ops)
{
    unsigned most = ops->ops ? SC_TRACK_OPS_MAX : 0;
    return ops->count < most ? ops->count : most;
}

/* The kept operation of this index as a list of its own, which is not to be ended. */
struct sc_ops sc_ops_one(const struct sc_ops *ops, unsigned i);

/* Does one of them write the host's memory, or may one that is not kept? A destination must be
 * complete before its content moves; a source may be left behind. */
bool sc_ops_have_destination(const struct sc_ops *ops);

#endif
