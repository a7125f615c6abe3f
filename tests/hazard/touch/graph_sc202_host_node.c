// expect: SC202 action=stalled
//
// A graph downloads a result and counts in a host node behind it. The program launches it again and
// again, some launches ahead, and reads the result when the node has counted all of them. The racy
// build does so one launch too early in the end.
#include "graphs.h"

#include <stdatomic.h>

enum { LAUNCHES = 12, TURNS = 3 };

static void count(void *done)
{
    atomic_fetch_add((atomic_int *)done, 1);
}

int main(void)
{
    atomic_int done = 0;
    bool right = true;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *result = pinned_block(SMALL, 0);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(result, device, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, count, &done));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    for (int turn = 1; turn <= TURNS; turn++) {
        for (int i = 0; i < LAUNCHES; i++) {
            if (i == LAUNCHES - 1) {
                while (!fixed && turn == TURNS && atomic_load(&done) < turn * LAUNCHES - 1)
                    usleep(100);
                busy(stream);
                CHECK(cudaMemsetAsync(device, turn, SMALL, stream));
            }
            CHECK(cudaGraphLaunch(exec, stream));
        }
        while ((fixed || turn < TURNS) && atomic_load(&done) < turn * LAUNCHES)
            usleep(100);
        right = right && *(volatile unsigned char *)result == turn;
    }

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
