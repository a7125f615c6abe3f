// expect: none
//
// The program waits for an event, and what is recorded behind that still writes the source of a
// small copy in the same stream, which has to have the new bytes.
#include "touch.h"

enum { PARAMETERS = 1000 };

static void write_late(void *source)
{
    usleep(20000);
    fill(source, PARAMETERS, WANTED);
}

static bool send(cudaStream_t stream)
{
    cudaEvent_t worked = new_event();
    void *device = device_block(PARAMETERS, 0);
    void *source = pinned_block(PARAMETERS, FOREIGN);

    CHECK(cudaLaunchHostFunc(stream, sleep_in_stream, NULL));
    CHECK(cudaEventRecord(worked, stream));
    CHECK(cudaLaunchHostFunc(stream, write_late, source));
    CHECK(cudaEventSynchronize(worked));
    CHECK(cudaMemcpyAsync(device, source, PARAMETERS, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    return device_holds(device, PARAMETERS, WANTED);
}

int main(void)
{
    bool right = send(new_stream());
    right = send(blocking_stream()) && right;
    right = send(NULL) && right;
    return finish(right);
}
