#include "interpose/guard/data_limit.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "common/kernel.h"
#include "common/now.h"

#include "common/poison.h"

#define ASK_AGAIN_NS UINT64_C(10000000)

/* Linux's struct rlimit, which may differ from the C library's. */
struct limit {
    uint64_t soft, hard;
};

static _Atomic uint64_t asked_ns; /* when Linux was asked last */
static _Atomic bool is_set;       /* the last answer */

/* Asks Linux whether the size of the process's data is limited (RLIMIT_DATA). */
static bool is_limited_now(void)
{
    struct limit limit = {UINT64_MAX, UINT64_MAX};
    sc_kernel_call(SYS_prlimit64, 0, RLIMIT_DATA, NULL, &limit);
    return limit.soft != UINT64_MAX;
}

/* Takes the limit as set until Linux is asked the next time. Called before the program sets it, so
 * that no page is protected by a thread that has asked just before. */
void sc_data_limit_note_change(void)
{
    atomic_store(&asked_ns, sc_coarse_now_ns());
    atomic_store(&is_set, true);
}

/* Has the process a limit of its data (RLIMIT_DATA)? Then mprotect guards nothing: it could fail to
 * make pages writable again. Linux is asked every ASK_AGAIN_NS (10 ms). */
bool sc_data_limit_is_set(void)
{
    uint64_t now_ns = sc_coarse_now_ns();
    if (now_ns - atomic_load_explicit(&asked_ns, memory_order_relaxed) > ASK_AGAIN_NS) {
        atomic_store_explicit(&asked_ns, now_ns, memory_order_relaxed);
        atomic_store_explicit(&is_set, is_limited_now(), memory_order_relaxed);
    }
    return atomic_load_explicit(&is_set, memory_order_relaxed);
}
