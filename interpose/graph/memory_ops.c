#include "interpose/graph/memory_ops.h"

#include "common/poison.h"

enum { COUNT_MAX = 256 }; /* the driver refuses longer lists */

/* Returns whether one operation of a batch writes a value, or waits for one; both for an unknown
 * type, so that nothing is relied on. A barrier or flush does neither. */
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

/* Returns whether a batch of stream memory operations may write a value, by which the host may
 * learn how far the device is, or may wait for one that the host writes. A list that the driver
 * will refuse counts as both. */
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
