#include "common/brief_lock.h"

#include <linux/futex.h>
#include <stdbool.h>

#include "common/checks.h"
#include "common/kernel.h"
#include "common/library_lock.h"

#include "common/poison.h"

/* A pause takes 20 to 50 ns. A thread that sleeps is woken up to 50 us late on virtual machines
 * (2026-12-01, H200), so to spin for half of that is less than to sleep for a system call. */
enum { SPINS_MOST = 100, SPINS_OVER_CALL = 600, SPINS_LEAST = 10, SPINS_WEIGHT = 8 };

/* Tells the processor that the thread spins, so that it leaves more to the other hardware thread
 * of its core, and sees the lock's release sooner. */
static void pause_for_a_moment(void)
{
#if defined(__x86_64__)
    __asm__ volatile("pause" : : : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("yield" : : : "memory");
#endif
}

/* Checks again and again whether the lock is free, and takes it then. It checks at most about
 * twice as often as was needed lately (lock->spins, an average over SPINS_WEIGHT times) and `limit`
 * times, as glibc's adaptive mutex does: if the owner does not run, spinning is in vain. Returns
 * whether the lock was taken. */
static bool spin_until_taken(struct sc_brief_lock *lock, uint32_t limit)
{
    uint32_t usual = atomic_load_explicit(&lock->spins, memory_order_relaxed);
    uint32_t most = 2 * usual + SPINS_LEAST < limit ? 2 * usual + SPINS_LEAST : limit;
    uint32_t spins = 0;
    bool taken = false;
    while (spins++ < most && !taken) {
        pause_for_a_moment();
        taken = atomic_load_explicit(&lock->state, memory_order_relaxed) == SC_BRIEF_LOCK_FREE &&
                sc_brief_lock_grab(lock);
    }
    int32_t change = ((int32_t)spins - (int32_t)usual) / SPINS_WEIGHT;
    atomic_store_explicit(&lock->spins, usual + (uint32_t)change, memory_order_relaxed);
    return taken;
}

/* Waits for the lock and acquires it: spins first, then sleeps. A thread that has slept sets the
 * lock to AWAITED (others may sleep) even if it is alone, since it cannot know: the release then
 * makes one system call too many. */
static __attribute__((noinline, cold)) void await_lock(struct sc_brief_lock *lock, uint32_t limit)
{
    if (spin_until_taken(lock, limit))
        return;
    unsigned slept_ms = 0;
    while (atomic_exchange_explicit(&lock->state, SC_BRIEF_LOCK_AWAITED, memory_order_acquire) !=
           SC_BRIEF_LOCK_FREE)
        slept_ms += sc_library_lock_sleep(&lock->state, SC_BRIEF_LOCK_AWAITED, slept_ms);
}

/* Wakes one of the threads that sleep for the lock. Not inline: the case is rare. */
__attribute__((noinline, cold)) void sc_brief_lock_wake(struct sc_brief_lock *lock)
{
    sc_kernel_call(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1);
}

/* Acquires the lock. The thread counts as within a lock of the library from before on, so that a
 * signal handler does not wait for its own thread. Weak, as the next two are, so that tests can
 * replace them and set in which order threads run. */
__attribute__((weak)) void sc_brief_lock_acquire(struct sc_brief_lock *lock) SC_UNFOLLOWED
{
    SC_ASSERT_NOT_HELD(lock);
    sc_library_lock_enter();
    if (__builtin_expect(!sc_brief_lock_grab(lock), 0))
        await_lock(lock, SPINS_MOST);
    sc_brief_lock_note(lock, true);
}

/* Acquires a lock whose owner makes a system call meanwhile: spins for longer. */
void sc_brief_lock_acquire_over_call(struct sc_brief_lock *lock) SC_UNFOLLOWED
{
    SC_ASSERT_NOT_HELD(lock);
    sc_library_lock_enter();
    if (!sc_brief_lock_grab(lock))
        await_lock(lock, SPINS_OVER_CALL);
    sc_brief_lock_note(lock, true);
}

/* Acquires the lock if it is free, and returns whether it was. */
__attribute__((weak)) bool sc_brief_lock_try(struct sc_brief_lock *lock) SC_UNFOLLOWED
{
    sc_library_lock_enter();
    if (sc_brief_lock_grab(lock)) {
        sc_brief_lock_note(lock, true);
        return true;
    }
    sc_library_lock_leave();
    return false;
}

/* Releases the lock, and wakes a waiting thread if there may be one. */
__attribute__((weak)) void sc_brief_lock_release(struct sc_brief_lock *lock) SC_UNFOLLOWED
{
    SC_ASSERT_HELD(lock);
    if (__builtin_expect(sc_brief_lock_unlock(lock), 0))
        sc_brief_lock_wake(lock);
    sc_library_lock_leave();
}
