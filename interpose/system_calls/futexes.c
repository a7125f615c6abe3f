/* Hooks of mutexes, condition variables and the like, on which the C library sleeps by the system
 * call futex.
 *
 * The object may lie in pinned memory, on a page beside the target of a copy. Each hook exempts its
 * objects' pages from protection (interpose/system_calls/exempt_objects.h) and then jumps to libc's
 * function. So no frame of the library is there while a thread sleeps, is cancelled or unwound.
 *
 * A call takes two or three loads (0.3 to 0.5 ns) longer if the object lies below or above all
 * pinned memory, 1.4 ns longer between ranges, and 7 ns longer within 2 MB of a range.
 *
 * Not handled: an object on which threads sleep already when its memory is registered. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   hook: our function in the place of one of the C library's
 *   range: host memory that the driver knows: one allocation or one registration
 */

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>

#include "common/checks.h"
#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/base/sanitizers.h"
#include "interpose/streams/host_functions.h"
#include "interpose/system_calls/exempt_objects.h"
#include "interpose/system_calls/parameters.h"
#include "interpose/system_calls/robust_mutexes.h"
#include "track/blocks.h"
#include "track/track_front.h"
#include "track/track_parts.h"

#include "common/poison.h"

/* May a page of the object be guarded: does it lie in a block (2 MB) with memory that the driver
 * knows? Checks the first and the last byte, as an object may lie in two blocks. */
static inline bool may_be_near_range(const void *object, size_t size_bytes)
{
    const struct sc_blocks *blocks = sc_track_parts.range_blocks;
    uintptr_t first = (uintptr_t)object;
    uintptr_t last = first + size_bytes - 1;
    return sc_blocks_may_hold_one(blocks, first) ||
           (sc_unlikely((first ^ last) >> SC_BLOCKS_SHIFT) && sc_blocks_may_hold_one(blocks, last));
}

/* Has the object's pages never be protected, if they may be: Linux uses the object while threads
 * sleep on it. */
static inline void exempt_used(const void *object, size_t size_bytes)
{
    if (may_be_near_range(object, size_bytes))
        sc_exempt_objects_add(object, size_bytes);
}

/* Has the page of an object that is used again and again (a mutex) never be protected. If it is far
 * from all memory that can be guarded, only records that, so that the next call is fast. */
static inline void exempt_often_used(const void *object, size_t size_bytes)
{
    uint64_t version = sc_exempt_objects_ranges_version();
    if (may_be_near_range(object, size_bytes))
        sc_exempt_objects_add(object, size_bytes);
    else
        sc_exempt_objects_note_far(object, version);
}

#define SEEN(object) exempt_used(object, sizeof *(object))
#define SEEN_AGAIN(object) exempt_often_used(object, sizeof *(object))
#define SEEN_BYTES(address, size) sc_exempt_objects_add(address, size)

/* Makes the hook of a row. Without pinned memory it is two loads and a jump, without a frame.
 * `may_matter`: whether the objects are to be seen. For functions with one object it depends on
 * that object, since the driver itself locks a dozen mutexes for each copy. `need_not`: they need
 * not be, on a closer look. */
#define HOOK(version, find, may_matter, need_not, type, name, parameters, ...)                     \
    SC_EXPORT type name(SC_PARAMETERS_OF(parameters));                                             \
    NEXT_RECORD(next_##name, #name, version);                                                      \
    static __attribute__((noinline)) type check_##name(SC_PARAMETERS_OF(parameters))               \
    {                                                                                              \
        __typeof__(&name) next = sc_loader_found(&next_##name);                                    \
        if (sc_likely(next != NULL) && sc_likely(need_not))                                        \
            return next(SC_ARGUMENTS_OF(parameters));                                              \
        __VA_ARGS__;                                                                               \
        return (sc_likely(next != NULL) ? next : (__typeof__(&name))find(&next_##name))(           \
            SC_ARGUMENTS_OF(parameters));                                                          \
    }                                                                                              \
    type name(SC_PARAMETERS_OF(parameters))                                                        \
    {                                                                                              \
        __typeof__(&name) next = sc_loader_found(&next_##name);                                    \
        if (sc_unlikely(!next) || sc_unlikely(may_matter))                                         \
            return check_##name(SC_ARGUMENTS_OF(parameters));                                      \
        return next(SC_ARGUMENTS_OF(parameters));                                                  \
    }

#define WAITS sc_host_functions_waits()
#define MATTERS(object) sc_track_is_among_ranges(&sc_track, (uintptr_t)(object), sizeof *(object))
#define ONE(version, find, name, parameters, object)                                               \
    HOOK(version, find, MATTERS(object), sc_exempt_objects_is_known_far(object), int, name,        \
         parameters, SEEN_AGAIN(object))
#define SEVERAL(version, ...)                                                                      \
    HOOK(version, sc_loader_find, sc_exempt_objects_may_be_needed(), false, __VA_ARGS__)
#define SC_FUTEX(...) SEVERAL(NULL, __VA_ARGS__)
#define SC_FUTEX_SINCE(version, ...) SEVERAL(SC_GLIBC_SINCE(version), __VA_ARGS__)
#define SC_FUTEX_ONE(name, parameters, object) ONE(NULL, sc_loader_find, name, parameters, object)
#define SC_FUTEX_ONE_SINCE(version, name, parameters, object)                                      \
    ONE(SC_GLIBC_SINCE(version), sc_loader_find, name, parameters, object)
#define SC_FUTEX_OR(libc_name, name, parameters, object)                                           \
    ONE(NULL, find_or_##libc_name, name, parameters, object)

/* ---- mutexes, which allocators lock ---- */

/* libc's functions by other names. A look-up that leads to a hook of the library cannot wait for
 * its own end, and calls these. Sanitizers have hooks of these names that lead nowhere, and
 * allocators of their own. */
int sc_libc_lock(pthread_mutex_t *mutex);
int sc_libc_trylock(pthread_mutex_t *mutex);
__asm__(".symver sc_libc_lock, __pthread_mutex_lock@" SC_GLIBC_FIRST);
__asm__(".symver sc_libc_trylock, __pthread_mutex_trylock@" SC_GLIBC_FIRST);

/* Defines a function that finds libc's function for a hook: by a look-up, or, during one on this
 * thread, by its other name. */
#define OR_LIBC(libc_name)                                                                         \
    static void *find_or_##libc_name(struct sc_next *next)                                         \
    {                                                                                              \
        return sc_loader_is_looking() ? (void *)(libc_name) : sc_loader_find(next);                \
    }

OR_LIBC(sc_libc_lock)
OR_LIBC(sc_libc_trylock)

#define NEXT_RECORD SC_NEXT_RECORD
#include "interpose/system_calls/futexes.def"

/* ---- robust mutexes ---- */

typedef int robust_function(pthread_mutexattr_t *attributes, int robustness);

/* Hooks pthread_mutexattr_setrobust and its older name. Linux writes to a robust mutex when its
 * owner ends. From the first one on, those that are locked are looked for when memory is
 * registered. */
static int set_robust(robust_function *real, pthread_mutexattr_t *attributes, int robustness)
{
    if (robustness == PTHREAD_MUTEX_ROBUST)
        sc_robust_mutexes_note_one_made();
    return real(attributes, robustness);
}

/* The hook of pthread_mutexattr_setrobust, by which a program makes robust mutexes. */
SC_EXPORT int pthread_mutexattr_setrobust(pthread_mutexattr_t *attributes, int robustness)
{
    return set_robust(SC_NEXT(robust_function *, "pthread_mutexattr_setrobust"), attributes,
                      robustness);
}

SC_EXPORT int older_setrobust(pthread_mutexattr_t *attributes,
                              int robustness) __asm__("pthread_mutexattr_setrobust_np");
/* The hook of pthread_mutexattr_setrobust_np, the older name. The C library's header gives that the
 * newer function's symbol, so this one needs a name of its own. */
SC_EXPORT int older_setrobust(pthread_mutexattr_t *attributes, int robustness)
{
    return set_robust(SC_NEXT(robust_function *, "pthread_mutexattr_setrobust_np"), attributes,
                      robustness);
}

/* ---- locks of the library's own ---- */

/* The linker leads the library's own calls here (Makefile): their mutexes need no exemption. All of
 * them go to the next definition after the library. Otherwise a library before it that counts locks
 * would see some of these calls and not others. */
#define OURS(name, next, check)                                                                    \
    int __wrap_##name(pthread_mutex_t *mutex);                                                     \
    int __wrap_##name(pthread_mutex_t *mutex)                                                      \
    {                                                                                              \
        check;                                                                                     \
        if (sc_unlikely(sc_past_mutex.name != NULL))                                               \
            return sc_past_mutex.name(mutex);                                                      \
        return ((__typeof__(&name))sc_loader_get(next))(mutex);                                    \
    }

SC_NEXT_RECORD(next_pthread_mutex_unlock, "pthread_mutex_unlock", NULL);

OURS(pthread_mutex_lock, &next_pthread_mutex_lock, SC_ASSERT_NOT_HELD(mutex))
OURS(pthread_mutex_trylock, &next_pthread_mutex_trylock, (void)0)
OURS(pthread_mutex_unlock, &next_pthread_mutex_unlock, SC_ASSERT_HELD(mutex))
