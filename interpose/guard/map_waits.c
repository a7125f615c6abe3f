#include "interpose/guard/map_waits.h"

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/base/process.h"

#include "common/poison.h"

/* A thread counts when it has waited so often, more than once in so many calls. */
enum { SEVERAL = 4, TIMES = 4, CALLS = 16 };

static _Atomic uint64_t waiters; /* threads; those whose numbers are alike count as one */

static __thread unsigned balance __attribute__((tls_model("initial-exec")));

/* Notes that the thread had to wait for another one before its call of mprotect. Each wait
 * outweighs CALLS calls without one. A thread whose balance has come so far that it has waited
 * TIMES times counts as one that waits. */
static __attribute__((noinline)) void note_wait(void)
{
    balance += CALLS;
    if (balance > (TIMES - 1) * CALLS)
        atomic_fetch_or_explicit(&waiters, UINT64_C(1) << (unsigned)sc_thread_id() % 64,
                                 memory_order_relaxed);
}

void sc_map_waits_note(bool waited)
{
    if (waited && balance <= TIMES * CALLS)
        note_wait();
    else if (balance)
        balance--;
}

bool sc_map_waits_are_long(void)
{
    return __builtin_popcountll(atomic_load_explicit(&waiters, memory_order_relaxed)) >= SEVERAL;
}
