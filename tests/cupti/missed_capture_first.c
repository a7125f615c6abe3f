// run: cupti=off ->
// run: cupti=require ->
/* A blocking stream begins a capture around the wrappers, in a context that no call was seen in so
 * far. Meeting that context must not end the capture, as asking after its legacy stream would. */
#include "around.h"

int main(void)
{
    CUcontext primary;
    CUstream capturing;
    CUgraph graph;
    CUDA(cuInit(0));
    CUresult (*create)(CUstream *, unsigned);
    *(void **)&create = around("cuStreamCreate");
    go_around();
    CUDA(cuDevicePrimaryCtxRetain(&primary, 0));
    CUDA(cuCtxSetCurrent(primary));
    CUDA(cuMemAlloc((CUdeviceptr *)&device, BYTES));
    CUDA(create(&capturing, CU_STREAM_DEFAULT));
    CUDA(create((CUstream *)&stream, CU_STREAM_NON_BLOCKING));
    CUDA(direct.allocate_host(&pinned, BYTES, 0));
    CUDA(direct.begin_capture(capturing, CU_STREAM_CAPTURE_MODE_RELAXED));
    CUDA(cuMemcpyHtoDAsync(on_device(), pinned, BYTES, stream));
    CUDA(direct.end_capture(capturing, &graph));
    CUDA(cuStreamSynchronize(stream));
    return 0;
}
