// expect-exit: 0
// link: cuda
// options: verbosity=0
//
// A kernel fails while copies of other streams are in flight, and a wait says so (719). Nothing
// runs any more: the program gives all of its memory back, which is no mistake, and sees the
// driver's own answers. So it is with what it tries on another stream when the first one is gone.
#include "faulting.h"

enum { SIZE = 64 << 10 };

static void hold_up(void *unused)
{
    (void)unused;
    usleep(20000);
}

int main(void)
{
    CUfunction fault = faulting_kernel();
    CUstream failing = faulting_stream();
    CUstream copying = faulting_stream();
    CUdeviceptr to = 0;
    void *pinned[2] = {NULL, NULL};
    void *registered = malloc(SIZE);
    void *freed = malloc(SIZE);
    CHECK(cuMemAlloc(&to, SIZE));
    CHECK(cuMemAllocHost(&pinned[0], SIZE));
    CHECK(cuMemHostAlloc(&pinned[1], SIZE, CU_MEMHOSTALLOC_PORTABLE));
    CHECK(cuMemHostRegister(registered, SIZE, 0));
    CHECK(cuMemHostRegister(freed, SIZE, 0));

    CHECK(cuLaunchHostFunc(copying, hold_up, NULL));
    CHECK(cuMemcpyHtoDAsync(to, pinned[0], SIZE, copying));
    CHECK(cuMemcpyDtoHAsync(pinned[1], to, SIZE, copying));
    CHECK(cuMemcpyHtoDAsync(to, registered, SIZE, copying));
    CHECK(cuMemcpyDtoHAsync(freed, to, SIZE, copying));
    CHECK(cuLaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, failing, NULL, NULL));
    SHOW(cuStreamSynchronize(failing));

    SHOW(cuMemFreeHost(pinned[0]));
    SHOW(cuMemFreeHost(pinned[1]));
    SHOW(cuMemHostUnregister(registered));
    free(registered);
    free(freed);
    SHOW(cuStreamSynchronize(copying));
    SHOW(cuMemFree(to));
    SHOW(cuStreamDestroy(copying));
    SHOW(cuMemsetD8Async(to, 0, SIZE, failing));
    SHOW(cuMemcpyDtoDAsync(to, to + SIZE / 2, SIZE / 2, failing));
    return 0;
}
