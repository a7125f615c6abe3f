// expect: none
// options: stall_limit=60s
//
// A graph's host node tells the program that the copy before it is done, and waits there until the
// program has filled the source of the copy behind it, all by synchronous copies.
#include "graphs.h"

#include <stdatomic.h>

struct meeting {
    atomic_bool arrived, filled;
};

static void meet(void *argument)
{
    struct meeting *meeting = (struct meeting *)argument;
    atomic_store(&meeting->arrived, true);
    while (!atomic_load(&meeting->filled))
        usleep(100);
}

int main(void)
{
    struct meeting meeting = {false, false};
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *result = pinned_block(SMALL, 0);
    void *next = pinned_block(SMALL, 0);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(result, from, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, meet, &meeting));
    CHECK(cudaMemcpyAsync(to, next, SMALL, cudaMemcpyHostToDevice, stream));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    CHECK(cudaGraphLaunch(exec, stream));
    while (!atomic_load(&meeting.arrived))
        usleep(100);
    CHECK(cudaMemcpy(next, result, SMALL, cudaMemcpyHostToHost));
    CHECK(cudaMemcpy(next, from, SMALL, cudaMemcpyDeviceToHost));
    atomic_store(&meeting.filled, true);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(to, SMALL, WANTED));
}
