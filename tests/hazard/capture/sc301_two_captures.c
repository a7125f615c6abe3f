// expect: SC301 action=rerouted certainty=observed
//
// Two blocking streams capture at once, one of them for a thread of its own, and one operation on
// the legacy stream would break both captures.
#include "capture.h"

static void *from;
static void *between;
static void *to;
static pthread_barrier_t together;

static cudaGraphExec_t capture(void *target, const void *source, cudaStream_t clearing)
{
    cudaStream_t stream = blocking_stream();
    pthread_barrier_wait(&together);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    capture_copy(target, source, stream);
    pthread_barrier_wait(&together);
    if (target == to)
        TRY(cudaMemsetAsync(from, 0x5a, SMALL, clearing));
    pthread_barrier_wait(&together);
    return end_capture(stream, 1);
}

static void *capture_first(void *first)
{
    *(cudaGraphExec_t *)first = capture(between, from, NULL);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    cudaGraphExec_t first = NULL;
    cudaStream_t clearing = fixed ? new_stream() : 0;
    cudaStream_t stream = new_stream();
    from = device_block(SMALL, FOREIGN);
    between = device_block(SMALL, 0);
    to = device_block(SMALL, 0);
    pthread_barrier_init(&together, NULL, 2);

    if (pthread_create(&thread, NULL, capture_first, &first) != 0)
        return 3;
    cudaGraphExec_t second = capture(to, between, clearing);
    pthread_join(thread, NULL);

    CHECK(cudaStreamSynchronize(clearing));
    replay(first, stream);
    replay(second, stream);
    return finish(!broken && device_is(to, SMALL, 0x5a));
}
