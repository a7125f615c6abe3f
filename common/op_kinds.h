/* The kinds of operations: in which direction they copy, and whose memory their buffer is. Plain
 * data. The words are a contract with users of the report, as those of common/hazard.def are. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 */

#ifndef SC_WORDS_OP_KINDS_H
#define SC_WORDS_OP_KINDS_H

#include <stdbool.h>

enum sc_buffer_kind {
#define SC_BUFFER_KIND(kind, word) kind,
#include "common/op_kinds.def"
};

enum sc_direction {
#define SC_DIRECTION(direction, word) direction,
#include "common/op_kinds.def"
};

/* Does an operation of this direction write the host's memory? Then the program must not even read
 * it meanwhile. */
static inline bool sc_direction_writes_host(enum sc_direction direction)
{
    return direction == SC_D2H || direction == SC_MEMSET;
}

/* Can the program take memory of this kind away by free() or munmap(), and not only by a call of
 * CUDA? */
static inline bool sc_ops_is_heap(enum sc_buffer_kind kind)
{
    return kind == SC_REGISTERED || kind == SC_PAGEABLE || kind == SC_STACK;
}

#endif
