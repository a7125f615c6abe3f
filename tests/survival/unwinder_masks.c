// expect-exit: 0
// options: guard=off
// needs: kernel (the mask of a thread is looked at from another one)
//
// Many threads, one after the other, make their first copy. While they do, the kernel never tells
// that SIGSEGV is blocked there: who unwinds their stacks does not block it. (Before and after, the
// C library and libunwind block it, as they start and end a thread.)
#include "survival.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>

enum { THREADS = 600, BYTES = 4096 };

static _Atomic pid_t copier; /* while it copies */
static atomic_bool is_done;
static void *device, *pinned;
static cudaStream_t stream;

static void *copy(void *unused)
{
    (void)unused;
    copier = (pid_t)syscall(SYS_gettid);
    CHECK(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    copier = 0;
    return NULL;
}

static void *start_copiers(void *unused)
{
    pthread_t thread;
    (void)unused;
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&thread, NULL, copy, NULL));
        CHECK(pthread_join(thread, NULL));
    }
    CHECK(cudaStreamSynchronize(stream));
    is_done = true;
    return NULL;
}

/* The mask of the thread, or 0. */
static unsigned long long mask_of(pid_t thread)
{
    char line[256];
    unsigned long long mask = 0;
    snprintf(line, sizeof line, "/proc/self/task/%d/status", (int)thread);
    FILE *file = fopen(line, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "SigBlk: %llx", &mask) == 1)
            break;
    if (file)
        fclose(file);
    return mask;
}

int main(void)
{
    pthread_t thread;
    unsigned blocked = 0;
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaMallocHost(&pinned, BYTES));
    memset(pinned, 1, BYTES);
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(pthread_create(&thread, NULL, start_copiers, NULL));
    while (!is_done) {
        pid_t seen = copier;
        unsigned long long mask = mask_of(seen);
        blocked += seen && seen == copier && (mask >> (SIGSEGV - 1) & 1);
    }
    CHECK(pthread_join(thread, NULL));
    printf("SIGSEGV was seen blocked: %s\n", blocked ? "yes" : "no");
    return 0;
}
