/* Blocks of memory for the operations that look-ups have found. */
#include "track/ops.h"

#include <stdatomic.h>

#include "common/op_kinds.h"
#include "common/own_pages.h"
#include "track/op_info.h"

#include "common/poison.h"

enum { BLOCKS = 64, BLOCK_OPS = SC_TRACK_OPS_MAX };

static struct sc_op_info blocks[BLOCKS][BLOCK_OPS];
static _Atomic uint64_t taken; /* a bit for each block that is taken */

/* Takes memory for a list of found operations: one of the fixed blocks or, if all are taken, pages.
 * Lists do not lie on the stack, as some threads have small ones. Returns NULL if there is none. */
static struct sc_op_info *take_block(void)
{
    uint64_t now = atomic_load_explicit(&taken, memory_order_relaxed);
    while (~now) {
        int free_one = __builtin_ctzll(~now);
        if (atomic_compare_exchange_weak(&taken, &now, now | UINT64_C(1) << free_one))
            return blocks[free_one];
    }
    return sc_pages_map(sizeof blocks[0]);
}

/* Returns the memory of a list: a fixed block is free again, pages are unmapped. */
static void release_block(struct sc_op_info *block)
{
    uintptr_t offset = (uintptr_t)block - (uintptr_t)blocks;
    if (offset < sizeof blocks)
        atomic_fetch_and(&taken, ~(UINT64_C(1) << offset / sizeof blocks[0]));
    else
        sc_pages_unmap(block, sizeof blocks[0]);
}

/* Adds a copy of the operation. Only the first ones are kept, which is enough for a report; all are
 * counted. */
void sc_ops_add(struct sc_ops *ops, const struct sc_op_info *info)
{
    if (!ops->ops)
        ops->ops = take_block();
    if (ops->ops && ops->count < BLOCK_OPS)
        ops->ops[ops->count] = *info;
    ops->count++;
}

/* Adds the operation, unless its order cannot be seen (it is unjudged), so that nothing may be said
 * of it. */
bool sc_ops_add_judged(struct sc_ops *ops, const struct sc_op_info *info)
{
    bool is_judged = !sc_ops_is_unjudged(info);
    if (is_judged)
        sc_ops_add(ops, info);
    return is_judged;
}

/* Frees the memory of a list that has some. */
void sc_ops_free(struct sc_ops *ops)
{
    release_block(ops->ops);
    ops->ops = NULL;
}

/* Returns a list of one of the operations, for functions that take a list. */
struct sc_ops sc_ops_view_one(const struct sc_ops *ops, unsigned i)
{
    return (struct sc_ops){1, &ops->ops[i]};
}

/* Does an operation of the list write host memory? Those that were not kept may, so they count. */
bool sc_ops_have_destination(const struct sc_ops *ops)
{
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++)
        if (sc_direction_writes_host(ops->ops[i].direction))
            return true;
    return ops->count > sc_ops_count_kept(ops);
}
