#include "ledger/limit_events.h"

#include <stddef.h>

#include "common/poison.h"

/* Returns the name that cuda.h has for the limit, by its number; "unknown" for one of a later CUDA.
 */
const char *sc_limit_events_word(int limit)
{
    static const char *const words[] = {
        "CU_LIMIT_STACK_SIZE",
        "CU_LIMIT_PRINTF_FIFO_SIZE",
        "CU_LIMIT_MALLOC_HEAP_SIZE",
        "CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH",
        "CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT",
        "CU_LIMIT_MAX_L2_FETCH_GRANULARITY",
        "CU_LIMIT_PERSISTING_L2_CACHE_SIZE",
        "CU_LIMIT_SHMEM_SIZE",
        "CU_LIMIT_CIG_ENABLED",
        "CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED",
    };
    bool is_known = limit >= 0 && (size_t)limit < sizeof words / sizeof words[0];
    return is_known ? words[limit] : "unknown";
}
