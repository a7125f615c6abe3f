// expect: none
// sim: late=0:delay=20us
//
// Threads launch graphs on one stream at the same time. One hears of its copies by an event that a
// node records, one by a host node, and two by copies of their own between which these lie. Each
// fills its source when it has heard, while the others' launches go on.
#include <pthread.h>
#include <stdatomic.h>

#include "graphs.h"

enum { THREADS = 4, TURNS = 300 };

static struct lane {
    pthread_t thread;
    int number;
    cudaStream_t stream;
    cudaEvent_t copied;
    atomic_int runs;
    void *device, *input;
    cudaGraphExec_t exec; /* NULL: plain copies */
} lanes[THREADS];

static void count(void *runs)
{
    atomic_fetch_add((atomic_int *)runs, 1);
}

static void make_exec(struct lane *lane)
{
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t copy =
        added_copy(graph, lane->device, lane->input, SMALL, cudaMemcpyHostToDevice);
    cudaGraphNode_t node = NULL;
    struct cudaHostNodeParams params = {.fn = count, .userData = &lane->runs};
    if (lane->number == 0)
        CHECK(cudaGraphAddEventRecordNode(&node, graph, &copy, 1, lane->copied));
    else
        CHECK(cudaGraphAddHostNode(&node, graph, &copy, 1, &params));
    lane->exec = instantiate_only(graph);
}

static void issue(struct lane *lane, int turn)
{
    if (lane->exec)
        CHECK(cudaGraphLaunch(lane->exec, lane->stream));
    else
        CHECK(cudaMemcpyAsync(lane->device, lane->input, SMALL, cudaMemcpyHostToDevice,
                              lane->stream));
    if (!lane->exec)
        CHECK(cudaEventRecord(lane->copied, lane->stream));
    if (lane->number != 1)
        CHECK(cudaEventSynchronize(lane->copied));
    while (lane->number == 1 && atomic_load(&lane->runs) <= turn)
        usleep(20);
}

static void *work(void *given)
{
    struct lane *lane = given;
    for (int turn = 0; turn < TURNS; turn++) {
        fill(lane->input, SMALL, WANTED);
        issue(lane, turn);
        fill(lane->input, SMALL, FOREIGN);
    }
    return NULL;
}

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    for (int i = 0; i < THREADS; i++) {
        struct lane *lane = &lanes[i];
        lane->number = i;
        lane->stream = stream;
        lane->copied = new_event();
        lane->device = device_block(SMALL, 0);
        lane->input = pinned_block(SMALL, WANTED);
        if (i < 2)
            make_exec(lane);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&lanes[i].thread, NULL, work, &lanes[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(lanes[i].thread, NULL);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < THREADS; i++)
        right = right && device_holds(lanes[i].device, SMALL, WANTED);
    return finish(right);
}
