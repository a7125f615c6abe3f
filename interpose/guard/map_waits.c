#include "interpose/guard/map_waits.h"

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/base/process.h"

#include "common/poison.h"

/* A thread counts if it has waited TIMES times, more often than once in CALLS calls. */
enum { SEVERAL = 4, TIMES = 4, CALLS = 16 };

/* A bit for each thread that counts; threads whose numbers are alike share one. */
static _Atomic uint64_t waiters;

/* The thread's waits, weighed against its calls without one (sc_map_waits_note). */
static __thread unsigned balance __attribute__((tls_model("initial-exec")));

/* Counts that this thread had to wait for another one before its call of mprotect. Each wait
 * outweighs CALLS calls without one. After TIMES such waits the thread counts as one that waits
 * often, for ever: its bit is set. */
static __attribute__((noinline)) void note_wait(void)
{
    balance += CALLS;
    if (balance > (TIMES - 1) * CALLS)
        atomic_fetch_or_explicit(&waiters, UINT64_C(1) << (unsigned)sc_thread_id() % 64,
                                 memory_order_relaxed);
}

/* Counts one call of mprotect by this thread, and whether it had to wait for another thread. Linux
 * lets in one thread at a time, so when several threads wait often, userfaultfd is the better
 * mechanism. The balance has an upper limit, so that quiet calls can lower it again. */
void sc_map_waits_note(bool waited)
{
    if (waited && balance <= TIMES * CALLS)
        note_wait();
    else if (balance)
        balance--;
}

/* Have at least SEVERAL threads waited often for mprotect? Then userfaultfd is chosen. */
bool sc_map_waits_are_long(void)
{
    return __builtin_popcountll(atomic_load_explicit(&waiters, memory_order_relaxed)) >= SEVERAL;
}
