// expect: none
//
// A captured node is given another source and destroyed 200 times: nothing names the sources then.
#include "graphs.h"

enum { ROUNDS = 200 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *first = filled_block(LARGE, WANTED);
    cudaGraph_t kept[ROUNDS];

    size_t before = resident_bytes();
    for (unsigned i = 0; i < ROUNDS; i++) {
        void *next = filled_block(LARGE, i);
        kept[i] = captured_copy(device, first, LARGE, cudaMemcpyHostToDevice, stream);
        cudaGraphNode_t node = only_node(kept[i]);
        CHECK(cudaGraphMemcpyNodeSetParams1D(node, device, next, LARGE, cudaMemcpyHostToDevice));
        if (i % 2)
            CHECK(
                cudaGraphMemcpyNodeSetParams1D(node, device, first, LARGE, cudaMemcpyHostToDevice));
        else
            CHECK(cudaGraphDestroyNode(node));
        free(next);
    }
    bool right = resident_bytes() < before + 64 * LARGE;
    replay(instantiate(kept[1]), stream);
    return finish(right && device_holds(device, LARGE, WANTED));
}
