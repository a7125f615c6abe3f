/* Work that uses no host memory of ours to guard, but that orders what does: a kernel on the legacy
 * stream joins every blocking stream. On other streams there is little to do: a mark behind copies
 * that were just issued, and a note that something other than copies is at work. */
#include "interpose/base/compiler.h"
#include "interpose/calls/issue.h"
#include "interpose/capture/captures.h"
#include "interpose/capture/detours.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"
#include "interpose/streams/streams.h"

#include "track/poison.h"

#define WORK(symbol, work, parameters, arguments)                                                  \
    SC_DEFINE2(symbol, _ptsz, parameters, struct sc_detour detour;                                 \
               sc_detour_begin(&detour, API, SC_SITE(), &hStream, per_thread);                     \
               struct sc_work at_work = sc_work_begin(hStream, per_thread, work);                  \
               return sc_detour_end(&detour, sc_work_end(&at_work, REAL arguments));)

WORK(cuLaunchKernel, SC_WORK_MAY_WRITE,
     (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
      unsigned shared, CUstream hStream, void **parameters, void **extra),
     (f, gx, gy, gz, bx, by, bz, shared, hStream, parameters, extra))

SC_DEFINE2(
    cuLaunchKernelEx, _ptsz,
    (const CUlaunchConfig *config, CUfunction f, void **parameters, void **extra),
    if (!config) return REAL(config, f, parameters, extra);
    struct sc_detour detour; CUlaunchConfig moved; CUstream hStream = config->hStream;
    sc_detour_begin(&detour, API, SC_SITE(), &hStream, per_thread); if (sc_detour_taken(&detour)) {
        moved = *config;
        moved.hStream = hStream;
        config = &moved;
    } struct sc_work work = sc_work_begin(hStream, per_thread, SC_WORK_MAY_WRITE);
    return sc_detour_end(&detour, sc_work_end(&work, REAL(config, f, parameters, extra)));)

WORK(cuLaunchCooperativeKernel, SC_WORK_MAY_WRITE,
     (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
      unsigned shared, CUstream hStream, void **parameters),
     (f, gx, gy, gz, bx, by, bz, shared, hStream, parameters))

/* Elsewhere than in a capture, stream-ordered allocation is among the calls that break one. */
#define ALLOCATION(symbol, is_work, parameters, arguments)                                         \
    SC_DEFINE2(symbol, _ptsz, parameters, struct sc_detour detour;                                 \
               sc_detour_begin(&detour, API, SC_SITE(), &hStream, per_thread);                     \
               struct sc_work work = {0};                                                          \
               if (is_work) work = sc_work_begin(hStream, per_thread, SC_WORK_QUIET);              \
               bool endangers = sc_detour_leaves(&detour) && sc_streams_captures_seen() &&         \
                                !sc_issue_is_captured(hStream, per_thread);                        \
               CUresult result = endangers ? SC_PERMITTED(REAL arguments) : REAL arguments;        \
               return sc_detour_end(&detour, sc_work_end(&work, result));)

/* To allocate is no work of the stream (docs/driver.md, Green contexts), to free is. */
ALLOCATION(cuMemAllocAsync, false, (CUdeviceptr * address, size_t bytes, CUstream hStream),
           (address, bytes, hStream))

ALLOCATION(cuMemAllocFromPoolAsync, false,
           (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream hStream),
           (address, bytes, pool, hStream))

ALLOCATION(cuMemFreeAsync, true, (CUdeviceptr address, CUstream hStream), (address, hStream))

#define VALUE(symbol, work, type)                                                                  \
    WORK(symbol, work, (CUstream hStream, CUdeviceptr address, type value, unsigned flags),        \
         (hStream, address, value, flags))

VALUE(cuStreamWaitValue32, SC_WORK_AWAITS_HOST, cuuint32_t)
VALUE(cuStreamWaitValue32_v2, SC_WORK_AWAITS_HOST, cuuint32_t)
VALUE(cuStreamWaitValue64, SC_WORK_AWAITS_HOST, cuuint64_t)
VALUE(cuStreamWaitValue64_v2, SC_WORK_AWAITS_HOST, cuuint64_t)
VALUE(cuStreamWriteValue32, SC_WORK_MAY_WRITE | SC_WORK_SIGNALS, cuuint32_t)
VALUE(cuStreamWriteValue32_v2, SC_WORK_MAY_WRITE | SC_WORK_SIGNALS, cuuint32_t)
VALUE(cuStreamWriteValue64, SC_WORK_MAY_WRITE | SC_WORK_SIGNALS, cuuint64_t)
VALUE(cuStreamWriteValue64_v2, SC_WORK_MAY_WRITE | SC_WORK_SIGNALS, cuuint64_t)

WORK(cuStreamBatchMemOp, SC_WORK_AWAITS_HOST | SC_WORK_SIGNALS,
     (CUstream hStream, unsigned count, CUstreamBatchMemOpParams *operations, unsigned flags),
     (hStream, count, operations, flags))

WORK(cuStreamBatchMemOp_v2, SC_WORK_AWAITS_HOST | SC_WORK_SIGNALS,
     (CUstream hStream, unsigned count, CUstreamBatchMemOpParams *operations, unsigned flags),
     (hStream, count, operations, flags))

WORK(cuStreamAttachMemAsync, SC_WORK_QUIET,
     (CUstream hStream, CUdeviceptr address, size_t bytes, unsigned flags),
     (hStream, address, bytes, flags))

WORK(cuSignalExternalSemaphoresAsync, SC_WORK_SIGNALS,
     (const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params,
      unsigned count, CUstream hStream),
     (semaphores, params, count, hStream))

WORK(cuWaitExternalSemaphoresAsync, SC_WORK_AWAITS_HOST,
     (const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params,
      unsigned count, CUstream hStream),
     (semaphores, params, count, hStream))

/* A stream that captures takes none. */
SC_DEFINE2(cuGraphUpload, _ptsz, (CUgraphExec exec, CUstream hStream), struct sc_detour detour;
           sc_detour_begin(&detour, API, SC_SITE(), &hStream, per_thread);
           struct sc_work work = sc_work_begin(hStream, per_thread, SC_WORK_QUIET);
           CUresult result = sc_work_end(&work, REAL(exec, hStream));
           if (sc_detour_leaves(&detour)) sc_permit_refused(API, SC_SITE(), result);
           return sc_detour_end(&detour, result);)

WORK(cuMemMapArrayAsync, SC_WORK_QUIET, (CUarrayMapInfo * list, unsigned count, CUstream hStream),
     (list, count, hStream))

WORK(cuMemBatchDecompressAsync, SC_WORK_MAY_WRITE,
     (CUmemDecompressParams * list, size_t count, unsigned flags, size_t *failed, CUstream hStream),
     (list, count, flags, failed, hStream))

/* Not for the legacy stream (cuda.h). */
#define DISCARD(symbol, parameters, arguments)                                                     \
    SC_DEFINE2(symbol, _ptsz, parameters,                                                          \
               struct sc_work work = sc_work_begin(hStream, per_thread, SC_WORK_QUIET);            \
               return sc_permit_refused(API, SC_SITE(), sc_work_end(&work, REAL arguments));)

DISCARD(cuMemDiscardBatchAsync,
        (CUdeviceptr * addresses, size_t *sizes, size_t count, unsigned long long flags,
         CUstream hStream),
        (addresses, sizes, count, flags, hStream))

DISCARD(cuMemDiscardAndPrefetchBatchAsync,
        (CUdeviceptr * addresses, size_t *sizes, size_t count, CUmemLocation *locations,
         size_t *location_indices, size_t location_count, unsigned long long flags,
         CUstream hStream),
        (addresses, sizes, count, locations, location_indices, location_count, flags, hStream))

WORK(cuGraphicsMapResources, SC_WORK_QUIET,
     (unsigned count, CUgraphicsResource *resources, CUstream hStream), (count, resources, hStream))

WORK(cuGraphicsUnmapResources, SC_WORK_QUIET,
     (unsigned count, CUgraphicsResource *resources, CUstream hStream), (count, resources, hStream))
