// expect: none
// options: kernels=order
// sim: late=0
//
// A kernel that runs for as long as the program talks with it, by words of their own in pinned
// memory: the program rings, and knows by the answer that the kernel has taken its input.
#include "kernel.h"

#include "tests/serving_kernel.h"

enum { TURNS = 3 };

static volatile unsigned *new_word(void)
{
    void *word = driver_pinned_block(sizeof(unsigned), 0);
    memset(word, 0, sizeof(unsigned));
    return word;
}

static void await(const volatile unsigned *answer, unsigned turn)
{
    while (*answer < turn)
        usleep(100);
}

int main(void)
{
    driver_start();
    CUmodule module = NULL;
    CUfunction copies = copying_kernel(), serves = NULL;
    CHECK(cuModuleLoadData(&module, serving_kernel_text));
    CHECK(cuModuleGetFunction(&serves, module, "serve_words"));
    CUstream stream = driver_new_stream();
    CUdeviceptr result = driver_device_block(SMALL, 0);
    void *input = driver_pinned_block(SMALL, WANTED), *once = driver_pinned_block(SMALL, WANTED);
    volatile unsigned *bell = new_word(), *answer = new_word();

    launch_copy(copies, result, address_of(input), stream);
    launch_copy(copies, result, address_of(once), stream);
    CUdeviceptr bell_address = address_of((void *)(uintptr_t)bell);
    CUdeviceptr answer_address = address_of((void *)(uintptr_t)answer);
    unsigned turns = TURNS;
    void *parameters[] = {&bell_address, &answer_address, &turns};
    CHECK(cuLaunchKernel(serves, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    *bell = 1;
    await(answer, 1);
    fill(input, SMALL, FOREIGN); /* what was before the kernel is done */
    for (unsigned turn = 2; turn <= TURNS; turn++) {
        *bell = turn;
        await(answer, turn);
    }
    CHECK(cuMemFreeHost(once));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED) && holds(input, SMALL, FOREIGN));
}
