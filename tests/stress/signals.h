/* Each worker has a timer, whose handler touches memory beside everybody's slots, and may take the
 * worker out of a loop. */
#ifndef SC_TESTS_STRESS_SIGNALS_H
#define SC_TESTS_STRESS_SIGNALS_H

#include "handing.h"

#include <sys/syscall.h>

enum { ON_STACK = 0, NOT_ON_STACK = 1, ALTERNATE_BYTES = 64 << 10 };

static int beat_signal(void)
{
    return SIGRTMIN + (me->number % 2 ? NOT_ON_STACK : ON_STACK);
}

static void on_beat(int number, siginfo_t *info, void *context)
{
    int kept = errno;

    (void)context;
    (void)number;
    (void)info;
    if (*me->beat != me->beats)
        fail("the handler found %llu and not %llu", (unsigned long long)*me->beat,
             (unsigned long long)me->beats);
    me->beats++;
    ++*me->beat;
    errno = kept;
    if (me->may_jump) {
        me->may_jump = 0;
        siglongjmp(me->jump, 1);
    }
}

static void handle_beats(void)
{
    struct sigaction action = {.sa_sigaction = on_beat, .sa_flags = SA_SIGINFO | SA_RESTART};

    MUST(sigaction(SIGRTMIN + NOT_ON_STACK, &action, NULL));
    action.sa_flags |= SA_ONSTACK;
    MUST(sigaction(SIGRTMIN + ON_STACK, &action, NULL));
}

static void start_beats(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = beat_signal()};
    struct itimerspec every = {.it_interval.tv_nsec = 2000000 + (long)below(8000000)};

    if (me->number % 4 < 2) {
        stack_t stack = {.ss_sp = memory_of(ALTERNATE_BYTES), .ss_size = ALTERNATE_BYTES};
        MUST(sigaltstack(&stack, NULL));
    }
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    MUST(timer_create(CLOCK_MONOTONIC, &event, &me->timer));
    every.it_value = every.it_interval;
    MUST(timer_settime(me->timer, 0, &every, NULL));
}

static void end_beats(void)
{
    stack_t none = {.ss_flags = SS_DISABLE}, stack;

    MUST(timer_delete(me->timer));
    MUST(sigaltstack(&none, &stack));
    if (!(stack.ss_flags & SS_DISABLE))
        free(stack.ss_sp);
}

/* The worker counts in a slot until its next signal takes it out of that. */
static void step_jump(void)
{
    struct slot *volatile slot = any_slot();

    host_may_write(&slot->host);
    for (unsigned i = 0; i < 3; i++) { /* beside */
        struct slot *other = any_slot();
        if (other != slot)
            copy_down(any_lane(), other, other);
    }
    if (sigsetjmp(me->jump, 1) == 0) {
        volatile unsigned char *bytes = slot->host.bytes;
        me->may_jump = 1;
        for (;;)
            bytes[0]++;
    }
    slot->host.bytes[0] = slot->host.wanted[0];
    check_host(slot);
}

#endif
