// expect-exit: 4
// link: cuda
// options: verbosity=0
//
// A kernel fails behind copies that are done and before copies that are not, after memory was given
// back. Every error arrives as without the library. tests/unit/test_postmortem.py reads the line.
#include "faulting.h"

enum { SIZE = 64 << 10, SMALL = 256, ROUNDS = 100 };

int main(void)
{
    CUdeviceptr device = 0, old = 0, ordered = 0;
    void *up = NULL, *down = NULL, *given_back = NULL;
    CUfunction fault = faulting_kernel();
    CUstream done = faulting_stream(), failing = faulting_stream();
    CHECK(cuMemAlloc(&device, SIZE));
    CHECK(cuMemAlloc(&old, SIZE));
    CHECK(cuMemAllocHost(&up, SIZE));
    CHECK(cuMemAllocHost(&down, SMALL));
    CHECK(cuMemAllocHost(&given_back, SIZE));
    memset(up, 1, SIZE);

    for (int i = 0; i < ROUNDS; i++)
        CHECK(cuMemcpyHtoDAsync(device, up, SMALL, done));
    CHECK(cuMemcpyDtoDAsync(device, old, SIZE, done));
    CHECK(cuMemsetD8Async(old, 3, SIZE, done));
    CHECK(cuStreamSynchronize(done));
    CHECK(cuMemFree(old));
    CHECK(cuMemFreeHost(given_back));

    CHECK(cuMemcpyHtoDAsync(device, up, SIZE, failing));
    CHECK(cuMemAllocAsync(&ordered, SIZE, failing));
    CHECK(faulting_launch(fault, failing));
    CHECK(cuMemFreeAsync(ordered, failing));
    CHECK(cuMemcpyDtoHAsync(down, device, SMALL, failing));
    SHOW(cuStreamSynchronize(failing));
    SHOW(cuStreamSynchronize(done));
    SHOW(cuCtxSynchronize());
    SHOW(cuMemAlloc(&old, SIZE));
    SHOW(cudaGetLastError());
    return 4;
}
