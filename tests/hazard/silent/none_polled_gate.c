// expect: none
// options: device=1:stall_limit=1s:verbosity=2
// reported-summary: unjudged.by_reason.host_function>7 says=_not_judged
// needs: sim
// needs: preload
//
// As none_gated_stream, but the gate polls: nothing shows that it waits for the program, which may
// also have opened it before it begins. The source of one more copy is filled by the program
// itself, and the result is cleared before it comes. Needs the simulated GPU for the same reason.
#include "polls.h"

static struct poll gates[POLL_WAYS];

int main(void)
{
    cudaStream_t gated = new_stream();
    cudaStream_t other = new_stream();
    void *image = device_block(SMALL, WANTED);
    void *up = device_block(SMALL, 0);
    void *sync_up = device_block(SMALL, 0);
    void *touched_up = device_block(SMALL, 0);
    void *device = device_block(SMALL, FOREIGN);
    void *wanted = pinned_block(SMALL, WANTED);
    void *host = pinned_block(SMALL, FOREIGN);
    void *sync_host = pinned_block(SMALL, FOREIGN);
    void *touched = pinned_block(SMALL, FOREIGN);
    void *result = pinned_block(SMALL, 0);
    bool right = true;

    for (unsigned i = 0; i < 2 * POLL_WAYS; i++) {
        struct poll *gate = &gates[i % POLL_WAYS];
        if (i < POLL_WAYS)
            set_up_poll(gate, (enum poll_way)i);
        CHECK(cudaLaunchHostFunc(gated, poll_until_let_go, gate));
        if (i < POLL_WAYS) /* it polls */
            sleep_patiently(BUSY_US / 2);
        CHECK(cudaMemcpyAsync(up, host, SMALL, cudaMemcpyHostToDevice, gated));
        CHECK(cudaMemcpyAsync(sync_up, sync_host, SMALL, cudaMemcpyHostToDevice, gated));
        CHECK(cudaMemcpyAsync(touched_up, touched, SMALL, cudaMemcpyHostToDevice, gated));
        CHECK(cudaMemcpyAsync(result, device, SMALL, cudaMemcpyDeviceToHost, gated));

        fill(touched, SMALL, WANTED);
        fill(result, SMALL, FOREIGN);
        CHECK(cudaMemcpyAsync(host, image, SMALL, cudaMemcpyDeviceToHost, other));
        CHECK(cudaMemcpyAsync(device, wanted, SMALL, cudaMemcpyHostToDevice, other));
        CHECK(cudaStreamSynchronize(other));
        CHECK(cudaMemcpy(sync_host, image, SMALL, cudaMemcpyDeviceToHost));
        let_go(gate);
        CHECK(cudaStreamSynchronize(gated));
        right = right && device_holds(up, SMALL, WANTED) && holds(result, SMALL, WANTED);
        right = right && device_holds(sync_up, SMALL, WANTED);
        right = right && device_holds(touched_up, SMALL, WANTED);
        fill(host, SMALL, FOREIGN);
        fill(sync_host, SMALL, FOREIGN);
        fill(touched, SMALL, FOREIGN);
        CHECK(cudaMemset(device, 0, SMALL));
        CHECK(cudaDeviceSynchronize());
    }

    return finish(right);
}
