// expect: none
// options: kernels=order
// sim: late=0
//
// A kernel runs for as long as the program talks with it, by an atomic word at the beginning of a
// larger buffer.
#include "kernel.h"

#include <stdatomic.h>

#include "tests/serving_kernel.h"

enum { TURNS = 3 };

int main(void)
{
    driver_start();
    CUmodule module = NULL;
    CUfunction serves = NULL;
    CHECK(cuModuleLoadData(&module, serving_kernel_text));
    CHECK(cuModuleGetFunction(&serves, module, "serve_words"));
    CUstream stream = driver_new_stream();
    _Atomic unsigned *bell = driver_pinned_block(SMALL, 0);
    _Atomic unsigned *answer = driver_pinned_block(SMALL, 0);
    CUdeviceptr bell_address = address_of(bell), answer_address = address_of(answer);
    unsigned turns = TURNS;
    void *parameters[] = {&bell_address, &answer_address, &turns};

    atomic_store(bell, 0);
    atomic_store(answer, 0);
    CHECK(cuLaunchKernel(serves, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    for (unsigned turn = 1; turn <= TURNS; turn++) {
        if (turn % 2)
            atomic_store(bell, turn);
        else
            atomic_fetch_add(bell, 1);
        while (atomic_load(answer) < turn)
            usleep(100);
    }

    CHECK(cuCtxSynchronize());
    return finish(atomic_load(answer) == TURNS);
}
