// expect: none
//
// A coroutine captures a graph that reads a local of its own and writes another, and leaves. The
// stacks of the coroutines lie in an array of main's, so that the locals are below the coroutine
// that launches. Each launch sees the value of its time.
#include "carved.h"
#include "graphs.h"

enum { TURNS = 5 };

static struct coroutine owner, launcher;
static cudaStream_t stream;
static cudaGraphExec_t exec;
static void *device;
static bool right = true;

static void own(void)
{
    int step = 0;
    int seen = -1;
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, &step, sizeof step, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(&seen, device, sizeof seen, cudaMemcpyDeviceToHost, stream));
    exec = instantiate_only(end_capture(stream));
    for (int turn = 0; turn < TURNS; turn++) {
        step = 100 + turn;
        in_use(&step);
        leave(&owner);
        in_use(&seen);
        right = right && seen == 100 + turn;
    }
}

static void launch(void)
{
    for (int turn = 0; turn < TURNS; turn++) {
        replay(exec, stream);
        leave(&launcher);
    }
}

int main(void)
{
    unsigned char stacks[2][COROUTINE_BYTES];
    stream = new_stream();
    device = device_block(sizeof(int), 0);

    start(&owner, stacks[0], own);
    start(&launcher, stacks[1], launch);
    for (int turn = 0; turn < TURNS; turn++) {
        resume(&owner);
        resume(&launcher);
    }
    return finish(right);
}
