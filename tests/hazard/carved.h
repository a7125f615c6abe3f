/* Coroutines whose stacks lie in an array on the thread's own stack. */
#ifndef SC_TESTS_HAZARD_CARVED_H
#define SC_TESTS_HAZARD_CARVED_H

#include "twin.h"

#include <ucontext.h>

enum { COROUTINE_BYTES = 128 << 10 };

struct coroutine {
    ucontext_t inside, outside;
};

static inline void resume(struct coroutine *coroutine)
{
    CHECK(swapcontext(&coroutine->outside, &coroutine->inside));
}

/* Called within the coroutine. */
static inline void leave(struct coroutine *coroutine)
{
    CHECK(swapcontext(&coroutine->inside, &coroutine->outside));
}

/* Runs the body up to the first time that it leaves. */
static inline void start(struct coroutine *coroutine, unsigned char *stack, void (*body)(void))
{
    CHECK(getcontext(&coroutine->inside));
    coroutine->inside.uc_stack.ss_sp = stack;
    coroutine->inside.uc_stack.ss_size = COROUTINE_BYTES;
    coroutine->inside.uc_link = &coroutine->outside;
    makecontext(&coroutine->inside, body, 0);
    resume(coroutine);
}

#endif
