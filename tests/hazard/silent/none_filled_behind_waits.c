// expect: none
//
// A host function fills the source of two copies in other streams, which wait for it: the legacy
// stream by an event, and a third stream by an event of the legacy stream. The copies are small, so
// that the library would take the source's bytes at once if nothing was at work before them.
#include "twin.h"

enum { FEW = 4096 };

static void fill_late(void *source)
{
    usleep(BUSY_US);
    fill(source, FEW, WANTED);
}

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t third = new_stream();
    cudaEvent_t event = new_event();
    void *one = device_block(FEW, 0);
    void *other = device_block(FEW, 0);
    void *source = pinned_block(FEW, FOREIGN);
    bool right = true;

    for (int round = 0; round < 2; round++) { /* in the second one all has been waited for before */
        fill(source, FEW, FOREIGN);
        CHECK(cudaLaunchHostFunc(first, fill_late, source));
        CHECK(cudaEventRecord(event, first));
        CHECK(cudaStreamWaitEvent(0, event, 0));
        CHECK(cudaMemcpyAsync(one, source, FEW, cudaMemcpyHostToDevice, 0));
        CHECK(cudaEventRecord(event, 0));
        CHECK(cudaStreamWaitEvent(third, event, 0));
        CHECK(cudaMemcpyAsync(other, source, FEW, cudaMemcpyHostToDevice, third));
        CHECK(cudaStreamSynchronize(third));
        right &= device_holds(one, FEW, WANTED) && device_holds(other, FEW, WANTED);
        CHECK(cudaDeviceSynchronize());
    }
    return finish(right);
}
