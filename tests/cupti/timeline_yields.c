// run: timeline=1 -> timeline.state=yielded cupti.state=listening #timing=0
// run: timeline=1 FIRST=subscribes -> timeline.state=yielded cupti.state=yielded
// run: timeline=1 FIRST=enables -> timeline.state=yielded cupti.state=listening
// run: timeline=1 FIRST=early -> timeline.state=held cupti.state=listening
// run: strict=1 -> timeline=None cupti.state=listening
/* A profiler that has activity records made gets all of its own and none of ours, in its buffers
 * only, whether it comes before us, alone or as a subscriber, and also if it enables before it
 * registers. A copy of ours is in flight when it comes. */
#include <stdbool.h>

#include "timeline.h"

enum { BUFFER = 4096, COPIES = 100 };

static _Atomic unsigned requested, completed, copies, incomplete;

static CUptiResult (*next)(uint8_t *, size_t, CUpti_Activity **);

static void CUPTIAPI request(uint8_t **buffer, size_t *size, size_t *most)
{
    uint64_t *mine = calloc(1, BUFFER + sizeof *mine);
    CHECK(mine);
    *mine = 0x600d;
    *buffer = (uint8_t *)(mine + 1);
    *size = BUFFER;
    *most = 0;
    atomic_fetch_add(&requested, 1);
}

static void CUPTIAPI complete(CUcontext context, uint32_t id, uint8_t *buffer, size_t size,
                              size_t valid)
{
    CUpti_Activity *record = NULL;
    (void)context, (void)id;
    CHECK(((uint64_t *)(void *)buffer)[-1] == 0x600d && size == BUFFER);
    atomic_fetch_add(&completed, 1);
    while (valid && next(buffer, valid, &record) == CUPTI_SUCCESS) {
        const CUpti_ActivityMemcpy6 *copy = (const void *)record;
        CHECK(record->kind == CUPTI_ACTIVITY_KIND_MEMCPY);
        atomic_fetch_add(&copies, 1);
        if (copy->start == 0)
            atomic_fetch_add(&incomplete, 1);
    }
    free((uint64_t *)(void *)buffer - 1);
}

static struct {
    __typeof__(&cuptiActivityRegisterCallbacks) take;
    __typeof__(&cuptiActivityEnable) enable;
    __typeof__(&cuptiActivityDisable) disable;
    __typeof__(&cuptiActivityFlushAll) flush;
} records;

static void find(void)
{
    void *library = dlopen("libcupti.so.13", RTLD_NOW);
    CHECK(library);
    *(void **)&records.take = dlsym(library, "cuptiActivityRegisterCallbacks");
    *(void **)&records.enable = dlsym(library, "cuptiActivityEnable");
    *(void **)&records.disable = dlsym(library, "cuptiActivityDisable");
    *(void **)&records.flush = dlsym(library, "cuptiActivityFlushAll");
    *(void **)&next = dlsym(library, "cuptiActivityGetNextRecord");
    CHECK(records.take && records.enable && records.disable && records.flush && next);
}

static void profile(bool enables_first)
{
    unsigned before = copies;
    if (enables_first)
        CHECK(records.enable(CUPTI_ACTIVITY_KIND_MEMCPY) == CUPTI_SUCCESS);
    CHECK(records.take(request, complete) == CUPTI_SUCCESS);
    if (!enables_first)
        CHECK(records.enable(CUPTI_ACTIVITY_KIND_MEMCPY) == CUPTI_SUCCESS);
    for (int i = 0; i < COPIES; i++)
        copy();
    for (int i = 0; copies - before < COPIES && i < 3000; i++, usleep(10000))
        CHECK(records.flush(0) == CUPTI_SUCCESS);
    CHECK(records.disable(CUPTI_ACTIVITY_KIND_MEMCPY) == CUPTI_SUCCESS);
    CHECK(copies - before == COPIES && incomplete == 0 && requested == completed);
}

int main(void)
{
    const char *first = getenv("FIRST");
    if (first)
        profiler_load();
    find();
    if (first && strcmp(first, "early") == 0)
        CHECK(records.take(request, complete) == CUPTI_SUCCESS);
    set_up();
    for (int i = 0; i < 10; i++)
        copy();
    CUDA(cudaLaunchHostFunc(stream, note_begin, NULL));
    CUDA(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    if (first && strcmp(first, "subscribes") == 0)
        profiler_begin();
    for (int i = 0; i < 2; i++)
        profile(first && strcmp(first, "enables") == 0);
    return 0;
}
