// expect: SC301 action=rerouted certainty=observed event=cuMemcpyHtoDAsync_v2
//
// Another thread uses the legacy stream at the very moment when a capture has begun: before the
// call that began it has returned.
#include "capture.h"

#include <stdatomic.h>

enum { ROUNDS = 300 };

static cudaStream_t uploads;
static void *from;
static const void *source;
static atomic_int rounds_uploaded;
static atomic_int rounds_ended;

static void wait_for(const atomic_int *rounds, int wanted)
{
    while (atomic_load(rounds) < wanted)
        continue;
}

static bool legacy_stream_is_blocked(void)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    bool blocked = cudaStreamIsCapturing(cudaStreamLegacy, &status) != cudaSuccess;
    cudaGetLastError();
    return blocked;
}

static void *uploader(void *unused)
{
    (void)unused;
    for (int i = 1; i <= ROUNDS; i++) {
        while (!legacy_stream_is_blocked())
            continue;
        TRY(cudaMemcpyAsync(from, source, SMALL, cudaMemcpyHostToDevice, uploads));
        atomic_store(&rounds_uploaded, i);
        wait_for(&rounds_ended, i);
    }
    return NULL;
}

static void capture_once(int round, cudaStream_t stream, void *to)
{
    cudaGraph_t graph = NULL;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    wait_for(&rounds_uploaded, round);
    capture_copy(to, from, stream);
    if (TRY(cudaStreamEndCapture(stream, &graph)))
        CHECK(cudaGraphDestroy(graph));
    atomic_store(&rounds_ended, round);
}

int main(void)
{
    cudaStream_t stream = blocking_stream();
    pthread_t thread;
    uploads = fixed ? new_stream() : cudaStreamLegacy;
    from = device_block(SMALL, 0);
    source = pinned_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);

    if (pthread_create(&thread, NULL, uploader, NULL) != 0)
        return 3;
    for (int i = 1; i <= ROUNDS; i++)
        capture_once(i, stream, to);
    pthread_join(thread, NULL);
    CHECK(cudaDeviceSynchronize());
    return finish(!broken && device_holds(from, SMALL, WANTED));
}
