// expect: SC201 action=snapshotted kind=pinned
//
// One small buffer for every step of a loop: each step fills it for its own copy.
#include "touch.h"

enum { STEPS = 16, PARAMETERS = 256 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *source = pinned_block(PARAMETERS, 0);
    void *targets[STEPS];
    for (int i = 0; i < STEPS; i++)
        targets[i] = device_block(PARAMETERS, 0);

    for (int i = 0; i < STEPS; i++) {
        fill(source, PARAMETERS, WANTED + i);
        CHECK(cudaMemcpyAsync(targets[i], source, PARAMETERS, cudaMemcpyHostToDevice, stream));
        if (fixed)
            CHECK(cudaStreamSynchronize(stream));
    }

    CHECK(cudaStreamSynchronize(stream));
    bool right = true;
    for (int i = 0; i < STEPS; i++)
        right = right && device_holds(targets[i], PARAMETERS, WANTED + i);
    return finish(right);
}
