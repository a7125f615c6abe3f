// expect: none
// options: device=1
//
// Nodes of graphs tell of copies and memsets of device memory before their launch is done, by
// events and to the host, and wait for events of other streams. Two graphs hand a buffer to and fro
// by that alone, and nodes are changed meanwhile.
#include "graphs.h"

enum { TURNS = 6 };

static cudaStream_t one, two;
static cudaEvent_t written, taken;
static void *shared, *result, *rest[2];
static void *sources[2];

/* Writes what is shared, when the other graph has taken what was there, and then does other work.
 */
static cudaGraphExec_t writer(void)
{
    begin_capture(one);
    CHECK(cudaStreamWaitEvent(one, taken, cudaEventWaitExternal));
    CHECK(cudaMemcpyAsync(shared, sources[0], SMALL, cudaMemcpyHostToDevice, one));
    CHECK(cudaEventRecordWithFlags(written, one, cudaEventRecordExternal));
    CHECK(cudaMemsetAsync(rest[0], 1, SMALL, one));
    return instantiate_only(end_capture(one));
}

static cudaGraphExec_t reader(void)
{
    begin_capture(two);
    CHECK(cudaStreamWaitEvent(two, written, cudaEventWaitExternal));
    CHECK(cudaMemcpyAsync(result, shared, SMALL, cudaMemcpyDeviceToDevice, two));
    CHECK(cudaEventRecordWithFlags(taken, two, cudaEventRecordExternal));
    busy(two);
    CHECK(cudaMemsetAsync(rest[1], 2, SMALL, two));
    return instantiate_only(end_capture(two));
}

int main(void)
{
    one = new_stream();
    two = new_stream();
    written = new_event();
    taken = new_event();
    shared = device_block(SMALL, FOREIGN);
    result = device_block(SMALL, FOREIGN);
    rest[0] = device_block(SMALL, FOREIGN);
    rest[1] = device_block(SMALL, FOREIGN);
    sources[0] = pinned_block(SMALL, WANTED);
    cudaGraphExec_t writes = writer(), reads = reader();
    for (int turn = 0; turn < TURNS; turn++) {
        CHECK(cudaGraphLaunch(writes, one));
        CHECK(cudaGraphLaunch(reads, two));
    }
    CHECK(cudaStreamWaitEvent(one, taken, 0));
    CHECK(cudaMemsetAsync(shared, 0, SMALL, one));
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, SMALL, WANTED));
}
