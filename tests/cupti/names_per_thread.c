// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
// run: strict=1 -> hazard:copy.runtime_api=cudaMemcpyAsync_ptsz hazard:event.api=free exit=66
// run: strict=1 -> hazard:copy.api=cuMemcpyHtoDAsync_v2_ptsz hazard:event.runtime_api=None exit=66
/* The same for the per-thread default stream; a free is no call of the runtime's. */
#include "profiler.h"

int main(void)
{
    set_up();
    void *source = malloc(BYTES);
    CUDA(cudaHostRegister(source, BYTES, cudaHostRegisterDefault));
    CUDA(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, 0));
    free(source);
    CUDA(cudaStreamSynchronize(0));
    return 0;
}
