// expect: none
//
// Two threads capture at once, in the Global mode, each what is its own: neither makes a call that
// the other's capture forbids.
#include "capture.h"

struct job {
    cudaStream_t stream;
    void *from, *to;
    cudaGraph_t graph;
};

static pthread_barrier_t together;

static void *capture(void *argument)
{
    struct job *job = (struct job *)argument;
    pthread_barrier_wait(&together);
    CHECK(cudaStreamBeginCapture(job->stream, cudaStreamCaptureModeGlobal));
    pthread_barrier_wait(&together);
    capture_copy(job->to, job->from, job->stream);
    pthread_barrier_wait(&together);
    CHECK(cudaStreamEndCapture(job->stream, &job->graph));
    return NULL;
}

static struct job new_job(void)
{
    return (struct job){.stream = blocking_stream(),
                        .from = device_block(SMALL, WANTED),
                        .to = device_block(SMALL, 0)};
}

static bool is_done(const struct job *job)
{
    cudaGraphExec_t exec = NULL;
    CHECK(cudaGraphInstantiateWithFlags(&exec, job->graph, 0));
    replay(exec, job->stream);
    return device_holds(job->to, SMALL, WANTED);
}

int main(void)
{
    pthread_t thread;
    struct job mine = new_job();
    struct job others = new_job();
    pthread_barrier_init(&together, NULL, 2);

    if (pthread_create(&thread, NULL, capture, &others) != 0)
        return 3;
    capture(&mine);
    pthread_join(thread, NULL);
    return finish(!broken && is_done(&mine) && is_done(&others));
}
