#include "interpose/guard/map_waits.h"

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/base/process.h"

#include "common/poison.h"

/* A thread counts if it has waited TIMES times, more often than once in CALLS calls. */
enum { SEVERAL = 4, TIMES = 4, CALLS = 16 };

/* A bit for each thread that counts; threads whose numbers are alike share one. */
static _Atomic uint64_t waiters;

static __thread unsigned balance __attribute__((tls_model("initial-exec")));

/* Counts a wait of the thread for another one before its call of mprotect. Each wait outweighs
 * CALLS calls without one. */
static __attribute__((noinline)) void note_wait(void)
{
    balance += CALLS;
    if (balance > (TIMES - 1) * CALLS)
        atomic_fetch_or_explicit(&waiters, UINT64_C(1) << (unsigned)sc_thread_id() % 64,
                                 memory_order_relaxed);
}

/* Counts one system call of this thread that changed mappings. `balance` rises by CALLS if it
 * waited for another thread, and falls by one if not. */
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
