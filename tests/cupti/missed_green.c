// run: strict=1 -> hazards=1 hazard:code=SC101 hazard:action=deferred exit=66
// run: mode=report -> hazards=1
/* A green context is destroyed around the wrapper, with a copy at work that nobody waits for. The
 * memory that is freed under it is kept until the copy is seen to be complete, and then goes back
 * to where it came from. */
#include "around.h"

#include "tests/green_context.h"
#include "tests/patience.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE = 8 << 20, WAIT_MS = 30000, PAGE = 4096 };

static CUresult (*destroy)(CUgreenCtx);

static CUgreenCtx make(void)
{
    CUgreenCtx green;
    CUDA(make_green_context(&green));
    CUDA(cuGreenCtxStreamCreate((CUstream *)&stream, green, CU_STREAM_NON_BLOCKING, 0));
    return green;
}

static void CUDA_CB hold(void *unused)
{
    (void)unused;
    sleep_patiently(100000);
}

static bool is_mapped(uintptr_t page)
{
    unsigned char resident;
    return mincore((void *)page, PAGE, &resident) == 0;
}

int main(void)
{
    CUcontext primary;
    CUDA(cuInit(0));
    *(void **)&destroy = around("cuGreenCtxDestroy");
    CUDA(cuDevicePrimaryCtxRetain(&primary, 0));
    CUDA(cuCtxSetCurrent(primary));
    CUDA(cuMemAlloc((CUdeviceptr *)&device, LARGE));
    void *source = malloc(LARGE);
    CUDA(cuMemHostRegister(source, LARGE, 0));
    CUgreenCtx green = make();
    CUDA(cuLaunchHostFunc(stream, hold, NULL));
    CUDA(cuMemcpyHtoDAsync(on_device(), source, LARGE, stream));
    CUDA(destroy(green));
    CUDA(cuMemHostAlloc(&pinned, BYTES, 0)); /* makes the library clean up behind the context */
    uintptr_t page = (uintptr_t)source & ~(uintptr_t)(PAGE - 1);
    free(source);
    for (int i = 0; i < WAIT_MS && is_mapped(page); i++)
        usleep(1000);
    CHECK(!is_mapped(page));
    return 0;
}
