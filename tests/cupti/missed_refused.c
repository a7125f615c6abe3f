// run: strict=1 -> coverage.missed=3 hazards=0
/* Calls that pass by while a capture forbids them: what the driver has refused is neither
 * registered nor pinned, and a copy of it is a pageable one. */
#include "around.h"

int main(void)
{
    CUgraph graph;
    void *block = malloc(BYTES);
    void *host = block;
    set_up();
    go_around();
    CUDA(direct.copy(on_device(), pinned, BYTES, stream));
    CUDA(direct.synchronize(stream));
    CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(direct.register_host(block, BYTES, 0) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK(direct.allocate_host(&host, BYTES, 0) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK(cuStreamEndCapture(stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CUDA(cudaMemcpyAsync(device, block, BYTES, cudaMemcpyHostToDevice, stream));
    free(block);
    CUDA(cudaStreamSynchronize(stream));
    return 0;
}
