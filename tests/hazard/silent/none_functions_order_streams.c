// expect: none
// options: device=1
// needs: sim
// needs: preload
//
// Two streams are ordered by host functions: one posts behind the first stream's copies, one waits
// for that before the second stream's. The memory is the host's and the device's. On an H100 it
// hangs without the library, too: a host function that waits keeps those of other streams from
// beginning.
#include "semaphores.h"

static sem_t done;

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    void *image = device_block(SMALL, WANTED);
    void *up = device_block(SMALL, 0);
    void *device = device_block(SMALL, FOREIGN);
    void *source = pinned_block(SMALL, WANTED);
    void *host = pinned_block(SMALL, FOREIGN);
    void *result = pinned_block(SMALL, 0);
    bool right = true;
    sem_init(&done, 0, 0);

    for (unsigned i = 0; i < 3; i++) {
        if (i == 1) /* it has begun to wait */
            CHECK(cudaLaunchHostFunc(second, wait_for_post, &done));
        busy(first);
        CHECK(cudaMemcpyAsync(host, image, SMALL, cudaMemcpyDeviceToHost, first));
        CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, first));
        CHECK(cudaLaunchHostFunc(first, post, &done));
        if (i != 1)
            CHECK(cudaLaunchHostFunc(second, wait_for_post, &done));
        CHECK(cudaMemcpyAsync(up, host, SMALL, cudaMemcpyHostToDevice, second));
        CHECK(cudaMemcpyAsync(result, device, SMALL, cudaMemcpyDeviceToHost, second));
        CHECK(cudaStreamSynchronize(second));
        right = right && device_holds(up, SMALL, WANTED) && holds(result, SMALL, WANTED);
        fill(host, SMALL, FOREIGN);
        CHECK(cudaMemset(device, 0, SMALL));
        CHECK(cudaDeviceSynchronize());
    }

    return finish(right);
}
