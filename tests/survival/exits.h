/* What the exit programs have in common: CUDA in use, text left in the buffer of stdout, handlers
 * that allocate and free. */
#ifndef SC_TESTS_SURVIVAL_EXITS_H
#define SC_TESTS_SURVIVAL_EXITS_H

#include "survival.h"

/* Registered before CUDA is in use, so it runs after the driver's own clean-up. */
static SURVIVAL_HELPER void at_exit(void)
{
    void *device = NULL;
    churn(50);
    SHOW(cudaMalloc(&device, 4096));
}

static SURVIVAL_HELPER void at_quick_exit_handler(void)
{
    churn(50);
    puts("at quick exit");
    fflush(stdout);
}

static SURVIVAL_HELPER void prepare(void)
{
    use_cuda("main");
    fflush(stdout);
    fputs("[left in the buffer]\n", stdout);
}

#endif
