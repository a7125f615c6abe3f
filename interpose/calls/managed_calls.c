/* Wrappers of calls that say where managed memory is to lie: advice, prefetches of several parts,
 * and discards, after which it lies nowhere. A prefetch of one part is an operation as copies are
 * (copies.c). */

/* Terms (docs/glossary.md):
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 */

#include "interpose/calls/memory.h"
#include "interpose/calls/work.h"
#include "interpose/capture/permits.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"
#include "interpose/ledger/managed.h"
#include "interpose/ledger/memory_kinds.h"

#include "common/poison.h"

/* Called when the driver has answered: notes for the ledger of memory where the program has advised
 * managed memory to lie. Returns `result`. */
static CUresult note_advised(const struct sc_call *call, CUdeviceptr address, size_t bytes,
                             CUmem_advise advice, CUmemLocation location, CUresult result)
{
    if (result != CUDA_SUCCESS)
        return result;
    sc_memory_reserved(call, SC_MEMORY_MANAGED);
    sc_managed_advised(call, address, bytes, advice, location);
    return result;
}

CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device)
{
    SC_WRAPPER(cuMemAdvise);
    CUresult result = SC_PERMITTED(real(address, bytes, advice, device));
    return note_advised(call, address, bytes, advice, sc_managed_location(device), result);
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                        CUmemLocation location)
{
    SC_WRAPPER(cuMemAdvise_v2);
    CUresult result = SC_PERMITTED(real(address, bytes, advice, location));
    return note_advised(call, address, bytes, advice, location, result);
}

/* The arguments of a prefetch of several parts. */
struct prefetches {
    const CUdeviceptr *addresses;
    const size_t *sizes;
    size_t count;
    const CUmemLocation *locations;
    const size_t *from; /* for each location the index of the first part for which it holds */
    size_t location_count;
};

/* Called when the driver has answered a prefetch of several parts: notes for the ledger of memory
 * where each part is to lie. A location holds from its first part on, up to the next location's.
 * Returns `result`. */
static CUresult note_prefetched(const struct sc_call *call, const struct prefetches *all,
                                CUresult result)
{
    size_t location = 0;
    for (size_t i = 0; result == CUDA_SUCCESS && i < all->count; i++) {
        while (location + 1 < all->location_count && all->from[location + 1] <= i)
            location++;
        sc_managed_prefetched(call, all->addresses[i], all->sizes[i], all->locations[location]);
    }
    return result;
}

#define PREFETCHES(symbol, kind, answered)                                                         \
    SC_PAIR(symbol, _ptsz,                                                                         \
            (CUdeviceptr * addresses, size_t * sizes, size_t count, CUmemLocation * locations,     \
             size_t * from, size_t location_count, unsigned long long flags, CUstream stream),     \
            (addresses, sizes, count, locations, from, location_count, flags, stream))             \
    {                                                                                              \
        const struct prefetches all = {addresses, sizes, count, locations, from, location_count};  \
        struct sc_work work;                                                                       \
        sc_work_begin(&work, call, stream, kind);                                                  \
        CUresult result = sc_work_end(                                                             \
            &work, real(addresses, sizes, count, locations, from, location_count, flags, stream)); \
        return note_prefetched(call, &all, answered);                                              \
    }

PREFETCHES(cuMemPrefetchBatchAsync, SC_WORK_QUIET, result)
/* The memory's contents are undefined afterwards, as if a kernel had written there. */
PREFETCHES(cuMemDiscardAndPrefetchBatchAsync, SC_WORK_KERNEL,
           sc_permit_report_refused(call, result))

/* The driver does not take the call on the legacy stream (cuda.h). The memory's contents are
 * undefined afterwards, as if a kernel had written there. */
SC_PAIR(cuMemDiscardBatchAsync, _ptsz,
        (CUdeviceptr * addresses, size_t *sizes, size_t count, unsigned long long flags,
         CUstream stream),
        (addresses, sizes, count, flags, stream))
{
    struct sc_work work;
    sc_work_begin(&work, call, stream, SC_WORK_KERNEL);
    CUresult result = sc_work_end(&work, real(addresses, sizes, count, flags, stream));
    for (size_t i = 0; result == CUDA_SUCCESS && i < count; i++)
        sc_managed_lies_nowhere(addresses[i], sizes[i]);
    return sc_permit_report_refused(call, result);
}
