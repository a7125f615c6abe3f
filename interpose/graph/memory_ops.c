#include "interpose/graph/memory_ops.h"

#include "common/poison.h"

enum { COUNT_MAX = 256 }; /* the driver refuses longer lists */

/* Returns what one operation does; both, if its type is not known. */
static struct sc_memory_ops kind_of(CUstreamBatchMemOpType operation)
{
    switch (operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return (struct sc_memory_ops){.waits = true};
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return (struct sc_memory_ops){.writes = true};
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return (struct sc_memory_ops){0};
    default:
        return (struct sc_memory_ops){true, true};
    }
}

/* Returns what a list of stream memory operations may do: write a value that the host may see, or
 * wait for one. */
struct sc_memory_ops sc_memory_ops_of(const CUstreamBatchMemOpParams *list, unsigned count)
{
    struct sc_memory_ops all = {0};
    if (!list || count > COUNT_MAX)
        return (struct sc_memory_ops){true, true};
    for (unsigned i = 0; i < count; i++) {
        struct sc_memory_ops one = kind_of(list[i].operation);
        all.writes |= one.writes;
        all.waits |= one.waits;
    }
    return all;
}
