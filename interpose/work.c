/* Work that uses no host memory of ours to guard, but that orders what does: a kernel on the legacy
 * stream joins every blocking stream. Nothing is done here on other streams, beyond a mark
 * behind copies that were just issued. */
#include "interpose/issue.h"
#include "interpose/wrap.h"

#include "track/poison.h"

#define WORK(symbol, stream, parameters, arguments)                                                \
    SC_DEFINE2(symbol, _ptsz, parameters, sc_work_begin(stream, per_thread); return REAL arguments;)

WORK(cuLaunchKernel, hStream,
     (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
      unsigned shared, CUstream hStream, void **parameters, void **extra),
     (f, gx, gy, gz, bx, by, bz, shared, hStream, parameters, extra))

WORK(cuLaunchKernelEx, config ? config->hStream : NULL,
     (const CUlaunchConfig *config, CUfunction f, void **parameters, void **extra),
     (config, f, parameters, extra))

WORK(cuLaunchCooperativeKernel, hStream,
     (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
      unsigned shared, CUstream hStream, void **parameters),
     (f, gx, gy, gz, bx, by, bz, shared, hStream, parameters))

WORK(cuGraphLaunch, hStream, (CUgraphExec exec, CUstream hStream), (exec, hStream))

WORK(cuMemAllocAsync, hStream, (CUdeviceptr * address, size_t bytes, CUstream hStream),
     (address, bytes, hStream))

WORK(cuMemAllocFromPoolAsync, hStream,
     (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream hStream),
     (address, bytes, pool, hStream))

WORK(cuMemFreeAsync, hStream, (CUdeviceptr address, CUstream hStream), (address, hStream))

#define VALUE(symbol, type)                                                                        \
    WORK(symbol, hStream, (CUstream hStream, CUdeviceptr address, type value, unsigned flags),     \
         (hStream, address, value, flags))

VALUE(cuStreamWaitValue32, cuuint32_t)
VALUE(cuStreamWaitValue32_v2, cuuint32_t)
VALUE(cuStreamWaitValue64, cuuint64_t)
VALUE(cuStreamWaitValue64_v2, cuuint64_t)
VALUE(cuStreamWriteValue32, cuuint32_t)
VALUE(cuStreamWriteValue32_v2, cuuint32_t)
VALUE(cuStreamWriteValue64, cuuint64_t)
VALUE(cuStreamWriteValue64_v2, cuuint64_t)

WORK(cuStreamBatchMemOp, hStream,
     (CUstream hStream, unsigned count, CUstreamBatchMemOpParams *operations, unsigned flags),
     (hStream, count, operations, flags))

WORK(cuStreamBatchMemOp_v2, hStream,
     (CUstream hStream, unsigned count, CUstreamBatchMemOpParams *operations, unsigned flags),
     (hStream, count, operations, flags))

WORK(cuStreamAttachMemAsync, hStream,
     (CUstream hStream, CUdeviceptr address, size_t bytes, unsigned flags),
     (hStream, address, bytes, flags))

WORK(cuSignalExternalSemaphoresAsync, hStream,
     (const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params,
      unsigned count, CUstream hStream),
     (semaphores, params, count, hStream))

WORK(cuWaitExternalSemaphoresAsync, hStream,
     (const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params,
      unsigned count, CUstream hStream),
     (semaphores, params, count, hStream))
