// run: strict=1 -> coverage.missed=1 coverage:api=cuMemHostUnregister hazard:code=SC103 exit=66
// run: cupti=require -> hazard:code=SC103 hazard:action=stalled
// hazard:event.api=cuMemHostUnregister run: mode=report -> hazard:code=SC103 hazard:action=reported
/* Memory is unregistered around the wrappers while a copy that they carried reads it. */
#include "around.h"

int main(void)
{
    set_up();
    go_around();
    void *source = aligned_alloc(BYTES, BYTES);
    CUDA(cudaHostRegister(source, BYTES, cudaHostRegisterDefault));
    CUDA(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, stream));
    CUDA(direct.unregister_host(source));
    CUDA(cudaStreamSynchronize(stream));
    return 0;
}
