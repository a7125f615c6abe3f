// run: strict=1 HOW=race -> hazard:code=SC201 hazard:action=reported hazards=1 exit=66
// run: mode=report HOW=race -> hazard:code=SC201 hazard:action=reported hazards=1
// run: strict=1 HOW=blocking -> coverage:api=cuMemcpyDtoH_v2 hazards=0
// run: strict=1 HOW=waited -> coverage:api=cuMemcpyDtoH_v2 hazards=0
/* A synchronous copy passes every wrapper by, and overwrites the source of an earlier one, which
 * the device may have taken from a snapshot: in order, or not. */
#include "around.h"

static CUresult (*copy_at_once)(void *, CUdeviceptr, size_t);

int main(void)
{
    const char *how = getenv("HOW");
    set_up();
    go_around();
    *(void **)&copy_at_once = around("cuMemcpyDtoH_v2");
    if (strcmp(how, "blocking") != 0)
        CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaMemset(device, 1, BYTES));
    CUDA(cudaDeviceSynchronize());
    memset(pinned, 2, BYTES);
    CUDA(cudaMemcpyAsync((char *)device + BYTES / 2, pinned, BYTES / 2, cudaMemcpyHostToDevice,
                         stream));
    if (strcmp(how, "waited") == 0)
        CUDA(cudaStreamSynchronize(stream));
    CUDA(copy_at_once(pinned, on_device(), BYTES / 2));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFreeHost(pinned));
    return 0;
}
