// expect: none
// needs: sim
// options: device=1
//
// The runtime. Two graphs hand a pinned buffer, and device memory, from one stream to another: the
// first signals an external semaphore by its last node, and the second begins with a wait for that.
#include "graphs.h"

#include <sys/mman.h>

static cudaExternalSemaphore_t import(void)
{
    cudaExternalSemaphore_t semaphore = NULL;
    struct cudaExternalSemaphoreHandleDesc desc = {
        .type = cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd,
        .handle.fd = memfd_create("timeline", 0)};
    CHECK(ftruncate(desc.handle.fd, sizeof(uint64_t)));
    CHECK(cudaImportExternalSemaphore(&semaphore, &desc));
    return semaphore;
}

static cudaGraphExec_t end(cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

int main(void)
{
    cudaStream_t first = new_stream(), second = new_stream();
    cudaExternalSemaphore_t semaphore = import();
    const struct cudaExternalSemaphoreSignalParams signal = {.params.fence.value = 1};
    const struct cudaExternalSemaphoreWaitParams wait = {.params.fence.value = 1};
    void *source = pinned_block(SMALL, WANTED), *between = pinned_block(SMALL, FOREIGN);
    void *device = device_block(SMALL, 0), *to = device_block(SMALL, 0);
    void *target = pinned_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, first));
    CHECK(cudaMemcpyAsync(between, device, SMALL, cudaMemcpyDeviceToHost, first));
    CHECK(cudaSignalExternalSemaphoresAsync(&semaphore, &signal, 1, first));
    cudaGraphExec_t sends = end(first);
    CHECK(cudaStreamBeginCapture(second, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaWaitExternalSemaphoresAsync(&semaphore, &wait, 1, second));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyHostToDevice, second));
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, second));
    cudaGraphExec_t takes = end(second);

    busy(first);
    CHECK(cudaGraphLaunch(sends, first));
    CHECK(cudaGraphLaunch(takes, second));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED) && holds(target, SMALL, WANTED));
}
