// expect: none
// options: stall_limit=60s
//
// A graph's host node tells the program that the copy before it is done, and waits there until the
// program has filled the source of the copy behind it, all by synchronous copies.
#include "graphs.h"

struct meeting {
    bool arrived, filled;
};

static void meet(void *argument)
{
    struct meeting *meeting = (struct meeting *)argument;
    __atomic_store_n(&meeting->arrived, true, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&meeting->filled, __ATOMIC_ACQUIRE))
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
    while (!__atomic_load_n(&meeting.arrived, __ATOMIC_ACQUIRE))
        usleep(100);
    CHECK(cudaMemcpy(next, result, SMALL, cudaMemcpyHostToHost));
    CHECK(cudaMemcpy(next, from, SMALL, cudaMemcpyDeviceToHost));
    __atomic_store_n(&meeting.filled, true, __ATOMIC_RELEASE);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(to, SMALL, WANTED));
}
