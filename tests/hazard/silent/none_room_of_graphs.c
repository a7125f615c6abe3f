// expect: none
// sim: host_memory=1M
// needs: sim
//
// Buffers that graphs name are given back, and the graphs, which are never launched again, stay. Of
// 1 MB that may be page-locked two such buffers leave nothing, if they are kept for the graphs.
#include "graphs.h"

enum { HALF = 512 << 10, ROUNDS = 6 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(HALF, 0);
    bool good = true;
    for (int i = 0; i < ROUNDS; i++) {
        void *source = NULL;
        good = cudaMallocHost(&source, HALF) == cudaSuccess && good;
        fill(source, HALF, WANTED);
        cudaGraph_t graph = captured_copy(device, source, HALF, cudaMemcpyHostToDevice, stream);
        replay(instantiate(graph), stream);
        CHECK(cudaFreeHost(source));
    }
    return finish(good && device_holds(device, HALF, WANTED));
}
