#include "common/library_lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <time.h>

#include "common/kernel.h"
#include "common/mutex.h"

#include "common/poison.h"

enum { MILLISECOND_NS = 1000 * 1000 };

__thread int sc_mutex_depth __attribute__((tls_model("initial-exec")));
__thread int sc_library_lock_depth __attribute__((tls_model("initial-exec")));
__thread void (*sc_library_lock_on_leave)(void) __attribute__((tls_model("initial-exec")));

_Atomic(sc_library_lock_contended_function *) sc_library_lock_on_contended;

/* Calls the function that is to be called while a thread waits for a lock, if one is set. Returns
 * whether it wants to be called again in a millisecond; it does not return if the thread must
 * abandon the wait. */
static bool must_check_again(unsigned slept_ms)
{
    sc_library_lock_contended_function *look =
        atomic_load_explicit(&sc_library_lock_on_contended, memory_order_acquire);
    return look && look(slept_ms);
}

/* Sleeps while the futex `word` has the value, a millisecond at most, so that the thread checks
 * again then whether it must abandon the wait. Returns whether the whole millisecond has passed. A
 * brief lock's wait calls it in a loop. */
bool sc_library_lock_sleep(_Atomic uint32_t *word, uint32_t value, unsigned slept_ms)
{
    const struct timespec moment = {.tv_nsec = MILLISECOND_NS};
    must_check_again(slept_ms);
    return sc_kernel_call(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &moment) == -ETIMEDOUT;
}

/* Waits for the mutex and acquires it. Meanwhile the thread has to check from time to time whether
 * it must abandon the wait. A wait inside of pthread_mutex_lock could not, so the mutex is polled
 * for as long as that is needed. */
void sc_library_lock_await(pthread_mutex_t *lock) SC_UNFOLLOWED
{
    for (unsigned i = 0; must_check_again(i < SC_KERNEL_YIELDS ? 0 : i - SC_KERNEL_YIELDS); i++) {
        sc_kernel_back_off(i);
        if (pthread_mutex_trylock(lock) == 0)
            return;
    }
    pthread_mutex_lock(lock);
}
