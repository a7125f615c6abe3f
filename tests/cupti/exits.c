// run: strict=1 -> cupti.state=listening
// run: strict=1 FIRST=profiler -> cupti.state=yielded
// run: strict=1 LAST=_exit -> cupti.state=listening coverage.wrapped=3
/* CUDA calls, and a profiler, in handlers and destructors that run while the process ends. */
#include <unistd.h>

#include "profiler.h"

static void early_handler(void)
{
    cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream);
    CHECK(profiler.subscribe(&profiler.handle, profiler_hear, &profiler) == CUPTI_SUCCESS);
    profiler_end();
}

static void late_handler(void)
{
    copy();
}

static __attribute__((destructor)) void destruct(void)
{
    if (pinned)
        cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream);
}

int main(void)
{
    atexit(early_handler); /* runs behind those that CUDA's coming up registers */
    set_up();
    profiler_load();
    atexit(late_handler);
    if (getenv("FIRST"))
        profiler_begin();
    copy();
    if (getenv("FIRST"))
        profiler_end();
    if (getenv("LAST"))
        _exit(0);
    return 0;
}
