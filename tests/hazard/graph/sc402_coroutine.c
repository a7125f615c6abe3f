// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// In a coroutine whose stack lies in an array of main's, a function captures a copy of a local and
// returns. The graph is launched from the same coroutine.
#include "carved.h"
#include "graphs.h"

static struct coroutine coroutine;
static cudaStream_t stream;
static void *device;

static TWIN_HELPER cudaGraphExec_t record(void)
{
    static uint64_t kept;
    uint64_t local = 0;
    uint64_t *source = fixed ? &kept : &local;
    fill(source, sizeof *source, WANTED);
    return captured_exec(device, source, sizeof *source, cudaMemcpyHostToDevice, stream);
}

static void run(void)
{
    cudaGraphExec_t exec = record();
    reuse_stack();
    replay(exec, stream);
}

int main(void)
{
    unsigned char stack[COROUTINE_BYTES];
    stream = new_stream();
    device = device_block(sizeof(uint64_t), 0);

    start(&coroutine, stack, run);
    return finish(device_holds(device, sizeof(uint64_t), WANTED));
}
