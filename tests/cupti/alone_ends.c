// inject: 1
// run: strict=1 STATUS=0 -> exit_status=66 exit=66
// run: STATUS=0 -> exit_status=None
// run: STATUS=5 -> hazards=1 exit_status=None exit=5
/* Without a preload nobody tells with which status quick_exit was called. */
#include "profiler.h"

int main(void)
{
    set_up();
    CUDA(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    CUDA(cudaFreeHost(pinned));
    quick_exit(atoi(getenv("STATUS")));
}
