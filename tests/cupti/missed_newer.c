// sim: driver=13990
// needs: sim
// run: strict=1 -> coverage.missed=1 coverage:api=cuMemcpyHtoDAsync_v9 hazards=0
// run: mode=report -> coverage.missed=1 coverage:api=cuMemcpyHtoDAsync_v9 hazards=0
// run: -> coverage.missed=0 hazards=0
/* A driver newer than the library hands out a function in place of one that is wrapped: it is
 * handed on as it is, does what it has to, and CUPTI names it. */
#include "around.h"

int main(void)
{
    CUdriverProcAddressQueryResult found;
    CUresult (*newer)(CUdeviceptr, const void *, size_t, CUstream) = NULL;
    __typeof__(&cuGetProcAddress) find;
    set_up();
    memset(pinned, 7, BYTES);
    *(void **)&find = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuGetProcAddress_v2");
    CUDA(find("cuMemcpyHtoDAsync", (void **)&newer, 13990, 0, &found));
    CUDA(newer(on_device(), pinned, BYTES, stream));
    CUDA(cudaStreamSynchronize(stream));
    memset(pinned, 0, BYTES);
    CUDA(cudaMemcpy(pinned, device, BYTES, cudaMemcpyDeviceToHost));
    CHECK(((char *)pinned)[BYTES - 1] == 7);
    CUDA(cudaFreeHost(pinned));
    return 0;
}
