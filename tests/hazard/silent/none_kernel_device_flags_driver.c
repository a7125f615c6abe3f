// expect: none
// options: kernels=order
// sim: late=0
//
// A kernel that runs for as long as the program talks with it. The bell is a word of its own in
// device memory, which copies and memsets of another stream ring.
#include "kernel.h"

#include "tests/serving_kernel.h"

enum { TURNS = 4 };

static void await(const volatile unsigned *answer, unsigned turn)
{
    while (*answer < turn)
        usleep(100);
}

int main(void)
{
    driver_start();
    CUmodule module = NULL;
    CUfunction serves = NULL;
    CHECK(cuModuleLoadData(&module, serving_kernel_text));
    CHECK(cuModuleGetFunction(&serves, module, "serve_words"));
    CUstream stream = driver_new_stream(), ringing = driver_new_stream();
    CUdeviceptr bell = driver_device_block(sizeof(unsigned), 0);
    unsigned *values = driver_pinned_block(SMALL, 0);
    void *word = driver_pinned_block(sizeof(unsigned), 0);
    memset(word, 0, sizeof(unsigned));
    CHECK(cuMemsetD32(bell, 0, 1));
    CHECK(cuCtxSynchronize());

    CUdeviceptr answer_address = address_of(word);
    unsigned turns = TURNS;
    void *parameters[] = {&bell, &answer_address, &turns};
    CHECK(cuLaunchKernel(serves, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    for (unsigned turn = 1; turn <= TURNS; turn++) {
        values[turn] = turn;
        if (turn % 2)
            CHECK(cuMemcpyHtoDAsync(bell, &values[turn], sizeof(unsigned), ringing));
        else
            CHECK(cuMemsetD32Async(bell, turn, 1, ringing));
        await(word, turn);
    }

    CHECK(cuCtxSynchronize());
    return finish(*(volatile unsigned *)word == TURNS);
}
