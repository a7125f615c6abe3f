// run: strict=1 -> hazard:copy.runtime_api=None hazard:copy.api=cuMemcpyHtoDAsync_v2 exit=66
/* A copy that the program asks the driver for has no other name, also behind a call of the
 * runtime's. */
#include "profiler.h"

int main(void)
{
    set_up();
    copy();
    CUDA(cuMemcpyHtoDAsync((CUdeviceptr)(uintptr_t)device, pinned, BYTES, stream));
    CUDA(cudaFreeHost(pinned));
    return 0;
}
