// expect: none
//
// A kernel writes the source of a copy in place. The copy waits for the kernel by an event, whose
// stream has been destroyed, before the wait or behind it: another one has come in its place, with
// nothing to do, with work that the host waits for, or for the copy.
#include "kernel.h"

enum { SMALL_COPY = 4096 };

static CUfunction kernel;

static void launch_small(CUdeviceptr to, CUdeviceptr from, CUstream stream)
{
    unsigned count = SMALL_COPY;
    void *parameters[] = {&to, &from, &count};
    CHECK(cuLaunchKernel(kernel, SMALL_COPY / 256, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
}

static CUevent event_on(CUstream stream)
{
    CUevent event = NULL;
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventRecord(event, stream));
    return event;
}

enum successor { IDLE, IDLE_BEFORE_WAIT, BUSY, AWAITED, COPIES, SUCCESSORS };

/* The stream for the copy, which comes behind the event. */
static CUstream succeed(enum successor successor, CUstream former, CUevent event, CUstream stream,
                        CUdeviceptr other)
{
    CUstream next;
    if (successor != IDLE_BEFORE_WAIT && successor != BUSY)
        CHECK(cuStreamWaitEvent(stream, event, 0));
    CHECK(cuStreamDestroy(former));
    next = driver_new_stream();
    if (successor == BUSY || successor == AWAITED)
        launch_small(other, other, next);
    if (successor == IDLE_BEFORE_WAIT || successor == BUSY)
        CHECK(cuStreamWaitEvent(stream, event, 0));
    if (successor == COPIES) {
        CHECK(cuStreamWaitEvent(next, event_on(stream), 0));
        return next;
    }
    CHECK(cuStreamWaitEvent(stream, event_on(next), 0));
    if (successor == AWAITED)
        CHECK(cuStreamSynchronize(next));
    return stream;
}

static bool is_right(enum successor successor, CUstream stream)
{
    void *source = driver_pinned_block(SMALL_COPY, FOREIGN);
    CUdeviceptr written = driver_device_block(SMALL_COPY, WANTED);
    CUdeviceptr target = driver_device_block(SMALL_COPY, 0);
    CUstream former = driver_new_stream();

    launch_small(address_of(source), written, former);
    CUstream copies = succeed(successor, former, event_on(former), stream, target);
    CHECK(cuMemcpyHtoDAsync(target, source, SMALL_COPY, copies));
    CHECK(cuStreamSynchronize(copies));
    return driver_device_holds(target, SMALL_COPY, WANTED);
}

int main(void)
{
    driver_start();
    bool right = true;
    CUstream stream = driver_new_stream();
    kernel = copying_kernel();
    for (enum successor successor = IDLE; successor < SUCCESSORS; successor++)
        right &= is_right(successor, stream);
    return finish(right);
}
