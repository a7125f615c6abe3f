// expect: none
// options: device=1:stall_limit=60s
// needs: sim
// needs: preload
//
// A host function holds a stream, behind which a copy is queued, or another one that this waits
// for. A third stream, and a synchronous copy, fill its source first, in host and in device memory:
// the program lets the first stream go on when it has waited for them. Whoever made them wait for
// the copy would wait for ever. On an H100 it hangs without the library, too: work that nothing
// orders shares the queues of the device.
#include "semaphores.h"

static sem_t gate;

int main(void)
{
    cudaStream_t gated = new_stream();
    cudaStream_t other = new_stream();
    cudaStream_t held = new_stream();
    cudaEvent_t filled = new_event();
    cudaEvent_t behind = new_event();
    void *image = device_block(SMALL, WANTED);
    void *up = device_block(SMALL, 0);
    void *sync_up = device_block(SMALL, 0);
    void *host = pinned_block(SMALL, FOREIGN);
    void *sync_host = pinned_block(SMALL, FOREIGN);
    void *result = pinned_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    void *device = device_block(SMALL, FOREIGN);
    bool right = true;
    sem_init(&gate, 0, 0);

    for (unsigned i = 0; i < 4; i++) {
        CHECK(cudaLaunchHostFunc(i % 2 ? held : gated, wait_for_post, &gate));
        CHECK(cudaEventRecord(behind, held));
        CHECK(cudaStreamWaitEvent(gated, behind, 0));
        if (i > 1) /* it has begun to wait */
            sleep_patiently(BUSY_US / 2);
        CHECK(cudaMemcpyAsync(up, host, SMALL, cudaMemcpyHostToDevice, gated));
        CHECK(cudaMemcpyAsync(sync_up, sync_host, SMALL, cudaMemcpyHostToDevice, gated));
        CHECK(cudaMemcpyAsync(result, device, SMALL, cudaMemcpyDeviceToHost, gated));

        CHECK(cudaMemcpyAsync(host, image, SMALL, cudaMemcpyDeviceToHost, other));
        CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, other));
        CHECK(cudaEventRecord(filled, other));
        CHECK(cudaEventSynchronize(filled));
        CHECK(cudaMemcpy(sync_host, image, SMALL, cudaMemcpyDeviceToHost));
        post(&gate);
        CHECK(cudaStreamSynchronize(gated));
        right = right && device_holds(up, SMALL, WANTED) && holds(result, SMALL, WANTED);
        right = right && device_holds(sync_up, SMALL, WANTED);
        fill(host, SMALL, FOREIGN);
        fill(sync_host, SMALL, FOREIGN);
        CHECK(cudaMemset(device, 0, SMALL));
        CHECK(cudaDeviceSynchronize());
    }

    return finish(right);
}
