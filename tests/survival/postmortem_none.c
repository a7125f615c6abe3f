// expect-exit: 0
// link: cuda
// options: verbosity=0
//
// Errors after which all goes on: there is no post-mortem.
#include "faulting.h"

enum { SIZE = 64 << 10 };

static void wait_for_word(void *word)
{
    while (!*(volatile int *)word)
        usleep(100);
}

int main(void)
{
    static int word;
    CUdeviceptr device = 0;
    CUevent event = NULL;
    faulting_kernel();
    CUstream stream = faulting_stream();
    CHECK(cuEventCreate(&event, 0));
    SHOW(cuMemAlloc(&device, 0));
    SHOW(cuMemAlloc(&device, (size_t)1 << 50));
    SHOW(cuMemFreeHost(&word));
    SHOW(cuMemHostUnregister(&word));
    CHECK(cuMemAlloc(&device, SIZE));
    SHOW(cuStreamSynchronize(stream));
    CHECK(cuLaunchHostFunc(stream, wait_for_word, &word));
    CHECK(cuEventRecord(event, stream));
    SHOW(cuStreamQuery(stream));
    SHOW(cuEventQuery(event));
    *(volatile int *)&word = 1;
    SHOW(cuStreamSynchronize(stream));
    SHOW(cuEventQuery(event));
    CHECK(cuMemFree(device));
    use_cuda("after");
    return 0;
}
