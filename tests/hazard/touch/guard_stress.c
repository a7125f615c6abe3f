// expect: SC201
// expect: SC202
// timeout: 120
// needs: small-pages
//
// Sixteen threads fill, upload, overwrite, download, read, free and fork, on buffers of every size
// and kind, as fast as they can. The racy ones do not wait before they touch a buffer again. Every
// byte is looked at. GUARD_STRESS_SECONDS says for how long; for a second otherwise.
#include "twin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

enum { THREADS = 16, SIZES = 6, PAGE = 4096 };

static const size_t sizes[SIZES] = {8, 700, 4096, 40000, 70000, 300000};
static atomic_bool stop;
static atomic_uint wrong;

struct worker {
    pthread_t thread;
    unsigned number;
    unsigned random;
    cudaStream_t stream;
    cudaEvent_t event;
};

struct buffers {
    size_t size;
    bool registered;
    unsigned char *in, *out;
    void *device;
};

static unsigned next_random(struct worker *worker)
{
    worker->random = worker->random * 1664525u + 1013904223u;
    return worker->random >> 8;
}

/* Whole pages, so that what is compared shares its pages with nobody. */
static unsigned char *new_buffer(size_t size, bool registered)
{
    void *memory = NULL;
    size_t room = (size + PAGE - 1) / PAGE * PAGE;
    if (!registered) {
        CHECK(cudaMallocHost(&memory, room));
    } else {
        memory = aligned_alloc(PAGE, room);
        if (!memory)
            exit(3);
        CHECK(cudaHostRegister(memory, room, cudaHostRegisterDefault));
    }
    return (unsigned char *)memory;
}

static void free_buffer(unsigned char *memory, bool registered)
{
    if (!registered) {
        CHECK(cudaFreeHost(memory));
        return;
    }
    CHECK(cudaHostUnregister(memory));
    free(memory);
}

static void wait_if_fixed(struct worker *worker)
{
    if (!fixed)
        return;
    if (next_random(worker) % 2) {
        CHECK(cudaStreamSynchronize(worker->stream));
    } else {
        CHECK(cudaEventRecord(worker->event, worker->stream));
        CHECK(cudaEventSynchronize(worker->event));
    }
}

static void round_trip(struct worker *worker, const struct buffers *b)
{
    unsigned seed = next_random(worker) % 251;
    fill(b->in, b->size, seed);
    CHECK(cudaMemcpyAsync(b->device, b->in, b->size, cudaMemcpyHostToDevice, worker->stream));
    wait_if_fixed(worker);
    fill(b->in, b->size, seed + 1);
    CHECK(cudaMemcpyAsync(b->out, b->device, b->size, cudaMemcpyDeviceToHost, worker->stream));
    wait_if_fixed(worker);
    if (!holds(b->out, b->size, seed))
        atomic_fetch_add(&wrong, 1);
    CHECK(cudaStreamSynchronize(worker->stream));
}

/* The child has memory of its own, and may touch all of it. */
static void fork_once(const struct buffers *b)
{
    pid_t child = fork();
    if (child == 0) {
        if (b->registered) {
            memset(b->in, 1, b->size);
            memset(b->out, 1, b->size);
        }
        _exit(0);
    }
    int status = -1;
    if (waitpid(child, &status, 0) != child || status != 0)
        atomic_fetch_add(&wrong, 1);
}

static void *work(void *argument)
{
    struct worker *worker = (struct worker *)argument;
    while (!atomic_load(&stop)) {
        struct buffers b = {.size = sizes[next_random(worker) % SIZES],
                            .registered = next_random(worker) % 2};
        b.in = new_buffer(b.size, b.registered);
        b.out = new_buffer(b.size, b.registered);
        CHECK(cudaMalloc(&b.device, b.size));
        for (int i = 0; i < 8; i++)
            round_trip(worker, &b);
        if (worker->number == 0)
            fork_once(&b);
        free_buffer(b.in, b.registered);
        free_buffer(b.out, b.registered);
        CHECK(cudaFree(b.device));
    }
    return NULL;
}

int main(void)
{
    static struct worker workers[THREADS];
    const char *given = getenv("GUARD_STRESS_SECONDS");
    double seconds = given ? atof(given) : 1;
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i, .random = i * 7919 + 1};
        workers[i].stream = new_stream();
        workers[i].event = new_event();
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 3;
    }
    nanosleep(
        &(struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)},
        NULL);
    atomic_store(&stop, true);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    return finish(atomic_load(&wrong) == 0);
}
