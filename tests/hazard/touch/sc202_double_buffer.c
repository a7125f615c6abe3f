// expect: SC202 action=stalled kind=pinned
//
// Results come down into two buffers that take turns, with one event for both: it stands for the
// later of the two copies, whose stream is not the earlier one's.
#include "touch.h"

enum { STEPS = 6 };

static cudaStream_t streams[2];
static cudaEvent_t events[2];
static void *buffers[2];
static void *results[STEPS];

static void fetch(int step)
{
    int turn = step % 2;
    if (turn == 0)
        busy(streams[turn]);
    CHECK(cudaMemcpyAsync(buffers[turn], results[step], SMALL, cudaMemcpyDeviceToHost,
                          streams[turn]));
    CHECK(cudaEventRecord(events[fixed ? turn : 0], streams[turn]));
}

static bool consume(int step)
{
    int turn = step % 2;
    CHECK(cudaEventSynchronize(events[fixed ? turn : 0]));
    return holds(buffers[turn], SMALL, WANTED + step);
}

int main(void)
{
    bool right = true;
    for (int i = 0; i < 2; i++) {
        streams[i] = new_stream();
        events[i] = new_event();
        buffers[i] = pinned_block(SMALL, 0);
    }
    for (int i = 0; i < STEPS; i++)
        results[i] = device_block(SMALL, WANTED + i);

    fetch(0);
    for (int i = 0; i < STEPS; i++) {
        if (i + 1 < STEPS)
            fetch(i + 1);
        right = consume(i) && right;
    }
    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
