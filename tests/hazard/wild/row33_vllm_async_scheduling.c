// expect: SC201 action=stalled kind=pinned certainty=observed
//
// docs/wild-bugs.md, row 33: with asynchronous scheduling a thread prepares the next step while the
// last one runs. Both use the same pinned block table, of which the upload for the last step is
// still queued.
#include "touch.h"

#include <pthread.h>

static unsigned char *table;
static cudaEvent_t uploaded;

static void *schedule(void *seed)
{
    if (fixed)
        CHECK(cudaEventSynchronize(uploaded));
    fill(table, SMALL, *(unsigned *)seed);
    return NULL;
}

int main(void)
{
    static unsigned seeds[] = {WANTED, FOREIGN};
    pthread_t scheduler;
    cudaStream_t stream = new_stream();
    void *steps[2] = {device_block(SMALL, 0), device_block(SMALL, 0)};
    table = (unsigned char *)pinned_block(SMALL, WANTED);
    uploaded = new_event();

    busy(stream);
    CHECK(cudaMemcpyAsync(steps[0], table, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(uploaded, stream));
    if (pthread_create(&scheduler, NULL, schedule, &seeds[1]) != 0)
        return 3;
    pthread_join(scheduler, NULL);
    CHECK(cudaMemcpyAsync(steps[1], table, SMALL, cudaMemcpyHostToDevice, stream));

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(steps[0], SMALL, seeds[0]) &&
                  device_holds(steps[1], SMALL, seeds[1]));
}
