/* Kernels that hold a stream as busy() does: for time in which the program is not held up.
 *
 * A kernel of a fixed time ends while a loaded machine lets nobody read what is behind it. These
 * end in their turn, when a thread of the program says so, which sleeps as patiently as busy()
 * does.
 */
#ifndef SC_TESTS_HAZARD_HELD_KERNELS_H
#define SC_TESTS_HAZARD_HELD_KERNELS_H

#include "touch.h"
#include "twin_driver.h"

#include "tests/serving_kernel.h"

#include <pthread.h>

enum { HELD_STEP_US = 3000 }; /* from the end of one kernel to that of the next */

struct held_kernels {
    CUfunction serve;
    CUstream stream;
    volatile uint32_t *bell; /* on a page of its own, with the kernels' answer */
    uint32_t launched;
};

static TWIN_HELPER struct held_kernels new_held_kernels(CUstream stream)
{
    struct held_kernels held = {NULL, stream, NULL, 0};
    CUmodule module = NULL;
    uintptr_t room = (uintptr_t)driver_pinned_block(2 * ROOM, 0);
    held.bell = (volatile uint32_t *)((room + ROOM - 1) & ~(uintptr_t)(ROOM - 1));
    held.bell[0] = held.bell[1] = 0;
    CHECK(cuModuleLoadData(&module, serving_kernel_text));
    CHECK(cuModuleGetFunction(&held.serve, module, "serve_words"));
    return held;
}

/* Behind those that were launched before. */
static inline void hold_by_kernel(struct held_kernels *held)
{
    const volatile uint32_t *bell = held->bell, *answer = bell + 1;
    uint32_t turns = ++held->launched;
    void *parameters[] = {&bell, &answer, &turns};
    CHECK(cuLaunchKernel(held->serve, 1, 1, 1, 1, 1, 1, 0, held->stream, parameters, NULL));
}

static void *end_one_by_one(void *argument)
{
    const struct held_kernels *held = (const struct held_kernels *)argument;
    const uint32_t launched = held->launched;
    sleep_patiently(BUSY_US);
    while (++*held->bell < launched)
        sleep_patiently(HELD_STEP_US);
    return NULL;
}

/* From now on their time runs; none is launched behind them, and `held` is there until they have
 * ended. */
static TWIN_HELPER void end_held_kernels(struct held_kernels *held)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, end_one_by_one, held));
    CHECK(pthread_detach(thread));
}

#endif
