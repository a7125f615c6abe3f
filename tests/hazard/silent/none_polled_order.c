// expect: none
// options: device=1:stall_limit=1s
// needs: sim
// needs: preload
//
// As none_functions_order_streams, but the second stream's function polls for what the first one's
// has done. Needs the simulated GPU for the same reason.
#include "polls.h"

static struct poll polls[POLL_WAYS];

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

    for (unsigned i = 0; i < 3 * POLL_WAYS; i++) {
        struct poll *done = &polls[i % POLL_WAYS];
        if (i < POLL_WAYS)
            set_up_poll(done, (enum poll_way)i);
        if (i < POLL_WAYS) /* it has begun to poll */
            CHECK(cudaLaunchHostFunc(second, poll_until_let_go, done));
        if (i < 2 * POLL_WAYS)
            busy(first);
        CHECK(cudaMemcpyAsync(host, image, SMALL, cudaMemcpyDeviceToHost, first));
        CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, first));
        CHECK(cudaLaunchHostFunc(first, let_go, done));
        if (i >= POLL_WAYS)
            CHECK(cudaLaunchHostFunc(second, poll_until_let_go, done));
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
