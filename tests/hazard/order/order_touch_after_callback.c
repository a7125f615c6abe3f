// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A host function behind the copy raises a flag. In the racy build it stands before the copy.
#include "flag.h"
#include "touch.h"

int main(void)
{
    atomic_int flag = 0;
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);

    if (!fixed)
        CHECK(cudaLaunchHostFunc(stream, raise_flag, &flag));
    busy(stream);
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaLaunchHostFunc(stream, raise_flag, &flag));
    while (atomic_load(&flag) == 0)
        usleep(500);
    bool right = holds(target, SMALL, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
