// expect: SC201 kind=pinned
//
// A loop that refills a buffer for every copy and waits in between, by turns in every way there is.
// The racy build leaves one of them out.
#include "touch.h"

enum { WAYS = 6, STEPS = WAYS + 1 };

static void wait_in_way(int way, cudaStream_t stream, cudaEvent_t sent)
{
    switch (way) {
    case 0:
        CHECK(cudaStreamSynchronize(stream));
        break;
    case 1:
        CHECK(cudaDeviceSynchronize());
        break;
    case 2:
        CHECK(cudaEventSynchronize(sent));
        break;
    case 3:
        while (cudaStreamQuery(stream) == cudaErrorNotReady)
            usleep(200);
        break;
    case 4:
        while (cudaEventQuery(sent) == cudaErrorNotReady)
            usleep(200);
        break;
    default:
        if (fixed)
            CHECK(cudaStreamSynchronize(stream));
    }
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t sent = new_event();
    void *source = pinned_block(SMALL, 0);
    void *targets[STEPS];
    for (int i = 0; i < STEPS; i++)
        targets[i] = device_block(SMALL, 0);

    for (int i = 0; i < STEPS; i++) {
        fill(source, SMALL, WANTED + i);
        CHECK(cudaMemcpyAsync(targets[i], source, SMALL, cudaMemcpyHostToDevice, stream));
        CHECK(cudaEventRecord(sent, stream));
        wait_in_way(i, stream, sent);
    }
    CHECK(cudaDeviceSynchronize());
    bool right = true;
    for (int i = 0; i < STEPS; i++)
        right = right && device_holds(targets[i], SMALL, WANTED + i);
    return finish(right);
}
