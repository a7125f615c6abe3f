// expect: none
//
// Buffers of all kinds are freed after the last launch is complete, and the exec is destroyed after
// that: it names freed memory, which is no mistake as long as nobody launches it.
#include "mapping.h"

#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *pageable = filled_block(SMALL, FOREIGN);
    void *mapped = mapped_pages(NULL, SMALL, FOREIGN);
    void *pinned = pinned_block(SMALL, FOREIGN);
    void *registered = registered_block(SMALL, WANTED);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, pageable, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(device, mapped, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(device, pinned, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(device, registered, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(pinned, device, SMALL, cudaMemcpyDeviceToHost, stream));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    replay(exec, stream);
    bool right = holds(pinned, SMALL, WANTED);
    free(pageable);
    CHECK(munmap(mapped, SMALL));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaHostUnregister(registered));
    free(registered);
    void *owner = filled_block(SMALL, FOREIGN);

    CHECK(cudaGraphExecDestroy(exec));
    return finish(right && holds(owner, SMALL, FOREIGN) && device_holds(device, SMALL, WANTED));
}
