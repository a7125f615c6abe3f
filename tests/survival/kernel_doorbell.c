// expect-exit: 0
// strict-says: kernels_that_may_have_waited_for_the_program
// options: kernels=order
//
// A kernel that runs until the program has rung for the last time. The bell is the first word of a
// larger buffer, which the kernel could as well read as a whole: nothing must keep the program from
// ringing.
#include "survival.h"

#include <cuda.h>

#include "tests/serving_kernel.h"

enum { TURNS = 50, BYTES = 1 << 16 };

static void await(const volatile unsigned *answer, unsigned turn)
{
    while (*answer < turn)
        usleep(100);
}

static void ring_by_store(unsigned *bell, unsigned turn)
{
    *(volatile unsigned *)bell = turn;
}

/* Complete when it returns. */
static void ring_by_memset(unsigned *bell, unsigned turn)
{
    CHECK(cuMemsetD32((CUdeviceptr)(uintptr_t)bell, turn, 1));
}

/* Another launch each time: the first one is known to talk with the program by then. */
static void serve(CUfunction kernel, CUstream stream, unsigned *bell, unsigned *answer,
                  void (*ring)(unsigned *bell, unsigned turn))
{
    unsigned turns = TURNS;
    void *parameters[] = {&bell, &answer, &turns};
    *bell = *answer = 0;
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    for (unsigned turn = 1; turn <= TURNS; turn++) {
        ring(bell, turn);
        await(answer, turn);
    }
    CHECK(cuStreamSynchronize(stream));
    printf("served %u turns\n", *answer);
}

int main(void)
{
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    CUstream stream = NULL;
    unsigned *bell = NULL, *answer = NULL;
    CHECK(cudaFree(NULL));
    CHECK(cuModuleLoadData(&module, serving_kernel_text));
    CHECK(cuModuleGetFunction(&kernel, module, "serve_words"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cudaMallocHost((void **)&bell, BYTES));
    CHECK(cudaMallocHost((void **)&answer, BYTES));
    for (int round = 0; round < 20; round++)
        serve(kernel, stream, bell, answer, ring_by_store);
    serve(kernel, stream, bell, answer, ring_by_memset);
    return 0;
}
