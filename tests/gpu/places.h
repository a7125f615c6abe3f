/* Memory of each kind that a copy may be from or to, and three streams, for questions about managed
 * memory. A part of conformance_managed.c and probe_managed.c. */
#ifndef SC_TESTS_GPU_PLACES_H
#define SC_TESTS_GPU_PLACES_H

#include "asking.h"

#include <string.h>

enum { LARGEST = 4 << 20, BLANK = 0, OLD = 1, NEW = 2 };

enum place { ON_DEVICE, MANAGED, PINNED, REGISTERED, PAGEABLE, PLACES };

static struct {
    CUstream stream, other, blocking;
    CUdeviceptr from[PLACES], to[PLACES];
    unsigned char *seen; /* pinned */
} w;

static CUdeviceptr new_block(enum place place)
{
    CUdeviceptr block = 0;
    void *host = NULL;
    switch (place) {
    case ON_DEVICE:
        TRY(cuMemAlloc(&block, LARGEST));
        return block;
    case MANAGED:
        TRY(cuMemAllocManaged(&block, LARGEST, CU_MEM_ATTACH_GLOBAL));
        return block;
    case PINNED:
        TRY(cuMemHostAlloc(&host, LARGEST, 0));
        return uva(host);
    case REGISTERED:
        host = map_pages(LARGEST);
        TRY(cuMemHostRegister(host, LARGEST, 0));
        return uva(host);
    default:
        return uva(map_pages(LARGEST));
    }
}

static CUresult set_up(void)
{
    enter_primary();
    w.stream = new_stream(CU_STREAM_NON_BLOCKING);
    w.other = new_stream(CU_STREAM_NON_BLOCKING);
    w.blocking = new_stream(CU_STREAM_DEFAULT);
    for (int place = 0; place < PLACES; place++) {
        w.from[place] = new_block((enum place)place);
        w.to[place] = new_block((enum place)place);
    }
    void *seen = NULL;
    CUresult rc = TRY(cuMemHostAlloc(&seen, LARGEST, 0));
    w.seen = seen;
    return rc;
}

static unsigned char last_byte(enum place place, CUdeviceptr at, size_t bytes)
{
    if (place != ON_DEVICE)
        return *(volatile unsigned char *)(at + bytes - 1);
    TRY(cuMemcpyDtoH(w.seen, at + bytes - 1, 1));
    return w.seen[0];
}

#endif
