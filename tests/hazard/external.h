/* External semaphores. On the simulated GPU one is a word of shared memory: whoever stores there
 * signals as another party would, a graphics driver or another process. */
#ifndef SC_TESTS_HAZARD_EXTERNAL_H
#define SC_TESTS_HAZARD_EXTERNAL_H

#include "twin_driver.h"

#include <stdatomic.h>
#include <sys/mman.h>

/* A timeline, which is another party's too. */
struct timeline {
    int file;
    _Atomic uint64_t *word;
    CUexternalSemaphore semaphore; /* once it is imported */
};

static TWIN_HELPER struct timeline new_timeline(void)
{
    struct timeline timeline = {.file = memfd_create("timeline", 0)};
    CHECK(ftruncate(timeline.file, sizeof *timeline.word));
    timeline.word =
        mmap(NULL, sizeof *timeline.word, PROT_READ | PROT_WRITE, MAP_SHARED, timeline.file, 0);
    CHECK(timeline.word == MAP_FAILED);
    return timeline;
}

static TWIN_HELPER void import_timeline(struct timeline *timeline)
{
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD,
        .handle.fd = timeline->file};
    CHECK(cuImportExternalSemaphore(&timeline->semaphore, &desc));
}

static TWIN_HELPER struct timeline imported_timeline(void)
{
    struct timeline timeline = new_timeline();
    import_timeline(&timeline);
    return timeline;
}

/* What another party does. */
static TWIN_HELPER void party_signals(const struct timeline *timeline, uint64_t value)
{
    atomic_store(timeline->word, value);
}

/* When threads that had something to do have done it. */
static TWIN_HELPER void party_signals_later(const struct timeline *timeline, uint64_t value)
{
    sleep_patiently(100 * 1000);
    party_signals(timeline, value);
}

static TWIN_HELPER void party_waits(const struct timeline *timeline, uint64_t value)
{
    while (atomic_load(timeline->word) < value)
        usleep(100);
}

/* What a stream does. */
static inline void stream_signals(const struct timeline *timeline, uint64_t value, CUstream stream)
{
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params = {.params.fence.value = value};
    CHECK(cuSignalExternalSemaphoresAsync(&timeline->semaphore, &params, 1, stream));
}

static inline void stream_waits(const struct timeline *timeline, uint64_t value, CUstream stream)
{
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params = {.params.fence.value = value};
    CHECK(cuWaitExternalSemaphoresAsync(&timeline->semaphore, &params, 1, stream));
}

#endif
