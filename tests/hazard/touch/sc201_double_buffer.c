// expect: SC201 action=stalled kind=pinned
//
// Two buffers that take turns, and one event for both: it is recorded again before it is waited
// for, so it stands for the other buffer's copy, or for none yet.
#include "touch.h"

enum { STEPS = 6 };

int main(void)
{
    cudaStream_t streams[2] = {new_stream(), new_stream()};
    cudaEvent_t events[2] = {new_event(), new_event()};
    void *buffers[2] = {pinned_block(SMALL, 0), pinned_block(SMALL, 0)};
    void *targets[STEPS];
    for (int i = 0; i < STEPS; i++)
        targets[i] = device_block(SMALL, 0);

    for (int i = 0; i < STEPS; i++) {
        int turn = i % 2;
        cudaEvent_t sent = events[fixed ? turn : 0];
        if (i >= 2)
            CHECK(cudaEventSynchronize(sent));
        fill(buffers[turn], SMALL, WANTED + i);
        if (turn == 0)
            busy(streams[turn]);
        CHECK(cudaMemcpyAsync(targets[i], buffers[turn], SMALL, cudaMemcpyHostToDevice,
                              streams[turn]));
        CHECK(cudaEventRecord(sent, streams[turn]));
    }

    CHECK(cudaDeviceSynchronize());
    bool right = true;
    for (int i = 0; i < STEPS; i++)
        right = right && device_holds(targets[i], SMALL, WANTED + i);
    return finish(right);
}
