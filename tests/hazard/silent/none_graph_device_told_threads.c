// expect: none
// options: device=1
// sim: late=0:delay=20us
//
// Threads launch graphs on one stream at the same time, each of which clears a buffer of its own
// and tells of that, by an event or a host node, before it does other work. Each thread then uses
// its buffer in a stream of its own, while the others' launches go on.
#include <pthread.h>
#include <stdatomic.h>

#include "graphs.h"

enum { THREADS = 4, TURNS = 150 };

static struct lane {
    pthread_t thread;
    int number;
    cudaStream_t stream, own;
    cudaEvent_t cleared, used;
    atomic_int runs;
    void *device, *rest;
    cudaGraphExec_t exec;
} lanes[THREADS];

static void count(void *runs)
{
    atomic_fetch_add((atomic_int *)runs, 1);
}

static void make_exec(struct lane *lane)
{
    begin_capture(lane->own);
    CHECK(cudaMemsetAsync(lane->device, 0, SMALL, lane->own));
    if (lane->number % 2 == 0)
        CHECK(cudaEventRecordWithFlags(lane->cleared, lane->own, cudaEventRecordExternal));
    else
        CHECK(cudaLaunchHostFunc(lane->own, count, &lane->runs));
    CHECK(cudaMemsetAsync(lane->rest, 0, SMALL, lane->own));
    lane->exec = instantiate_only(end_capture(lane->own));
}

static void *work(void *given)
{
    struct lane *lane = given;
    for (int turn = 0; turn < TURNS; turn++) {
        CHECK(cudaStreamWaitEvent(lane->stream, lane->used, 0));
        CHECK(cudaGraphLaunch(lane->exec, lane->stream));
        if (lane->number % 2 == 0)
            CHECK(cudaStreamWaitEvent(lane->own, lane->cleared, 0));
        while (lane->number % 2 && atomic_load(&lane->runs) <= turn)
            usleep(20);
        CHECK(cudaMemsetAsync(lane->device, lane->number + 1, SMALL, lane->own));
        CHECK(cudaEventRecord(lane->used, lane->own));
    }
    return NULL;
}

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    for (int i = 0; i < THREADS; i++) {
        struct lane *lane = &lanes[i];
        *lane = (struct lane){.number = i, .stream = stream};
        lane->own = new_stream();
        lane->cleared = new_event();
        lane->used = new_event();
        lane->device = device_block(SMALL, FOREIGN);
        lane->rest = device_block(SMALL, FOREIGN);
        make_exec(lane);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&lanes[i].thread, NULL, work, &lanes[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(lanes[i].thread, NULL);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < THREADS; i++) {
        const unsigned char *image = image_of(SMALL);
        CHECK(cudaMemcpy(image_of(SMALL), lanes[i].device, SMALL, cudaMemcpyDeviceToHost));
        right = right && image[0] == i + 1 && image[SMALL - 1] == i + 1;
    }
    return finish(right);
}
