// expect: none
// in-place: wrong
//
// A block that an exec names is freed and unregistered, in either order, and the exec is never
// launched again. The next owner of the memory gets pageable memory: copies into it are complete
// when they return.
#include "graphs.h"

static bool is_pageable(const void *block)
{
    struct cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, block));
    return attributes.type == cudaMemoryTypeUnregistered;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *wanted = device_block(SMALL, WANTED);
    void *volatile source = registered_block(SMALL, FOREIGN);
    cudaGraphExec_t exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, stream);

    if (!fixed)
        free(source);
    CHECK(cudaHostUnregister(source));
    if (fixed)
        free(source);
    CHECK(cudaGraphExecDestroy(exec));
    sleep_patiently(BUSY_US / 2); /* what may go back goes back */

    void *owner = filled_block(SMALL, FOREIGN);
    bool pageable = is_pageable(owner);
    CHECK(cudaMemcpyAsync(owner, wanted, SMALL, cudaMemcpyDeviceToHost, stream));
    bool complete = holds(owner, SMALL, WANTED);
    CHECK(cudaDeviceSynchronize());
    return finish(pageable && complete);
}
