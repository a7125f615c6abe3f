#include "interpose/guard/user_touches.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "cupti_hooks/ear.h"
#include "interpose/guard/protect.h"
#include "interpose/memory/userfaults.h"
#include "interpose/reaper/own_threads.h"

#include "track/poison.h"

static void *run(void *unused)
{
    struct sc_userfaults_event event;
    SC_CARRY();
    sc_own_threads_enter("safecopy-touch");
    sc_own_threads_close();
    if (!sc_userfaults_enter_reader())
        return unused;
    sc_userfaults_have_reader();
    while (sc_userfaults_await(&event))
        sc_protect_answer(event.address);
    return unused;
}

void sc_user_touches_start(void)
{
    static _Atomic bool is_started;
    if (sc_userfaults_are_wanted() && !atomic_load_explicit(&is_started, memory_order_relaxed) &&
        !atomic_exchange(&is_started, true))
        sc_own_threads_start(run, SC_OWN_THREADS_SMALL);
}
