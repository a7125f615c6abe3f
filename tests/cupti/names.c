// run: strict=1 -> hazard:copy.runtime_api=cudaMemcpyAsync exit=66
// run: strict=1 -> hazard:event.runtime_api=cudaFreeHost exit=66
// run: mode=report -> hazard:copy.api=cuMemcpyHtoDAsync_v2 hazard:event.api=cuMemFreeHost
// run: cupti=off:strict=1 -> hazard:copy.runtime_api=None hazard:copy.correlation_id=None exit=66
/* Hazards bear the names that the programmer wrote. */
#include "profiler.h"

int main(void)
{
    set_up();
    CUDA(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    CUDA(cudaFreeHost(pinned));
    return 0;
}
