// expect-exit: 0
//
// Children that are forked while a thread copies into slots of pinned memory, and waits for each
// copy, use up their mappings (vm.max_map_count). What the library does in a process without
// mappings is not for a child: its locks may be taken by a thread that is not there.
#include "in_flight.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, SLOTS = 8, SLOT_BYTES = 2 * PAGE, CHILDREN = 12, ROUNDS_FIRST = 200 };

static atomic_bool stop;
static atomic_int rounds;
static char *host;
static void *device;

static void *copy(void *unused)
{
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    while (!atomic_load(&stop)) {
        size_t slot = (size_t)atomic_fetch_add(&rounds, 1) % SLOTS;
        CHECK(cudaMemcpyAsync(host + slot * SLOT_BYTES, device, SLOT_BYTES, cudaMemcpyDeviceToHost,
                              stream));
        CHECK(cudaStreamSynchronize(stream));
    }
    return unused;
}

/* Every second page of a mapping becomes one of its own. */
static int use_up_mappings(void)
{
    enum { PAGES = 1 << 18 };
    char *wide = (char *)mmap(NULL, (size_t)PAGES * PAGE, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (size_t i = 1; wide != MAP_FAILED && i < PAGES; i += 2)
        if (mprotect(wide + i * PAGE, PAGE, PROT_READ) != 0)
            return 1;
    return 0;
}

int main(void)
{
    pthread_t copier;
    int at_limit = 0;
    CHECK(cudaMallocHost((void **)&host, SLOTS * SLOT_BYTES));
    CHECK(cudaMalloc(&device, SLOT_BYTES));
    CHECK(pthread_create(&copier, NULL, copy, NULL));
    while (atomic_load(&rounds) < ROUNDS_FIRST)
        usleep(1000);
    for (int i = 0; i < CHILDREN; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            alarm(120);
            _exit(use_up_mappings());
        }
        CHECK(waitpid(child, &status, 0) != child);
        at_limit += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
    }
    atomic_store(&stop, true);
    CHECK(pthread_join(copier, NULL));
    SHOW(at_limit);
    return 0;
}
