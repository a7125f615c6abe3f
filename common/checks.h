/* Assertions, only in debug builds (make DEBUG=1): other builds have no code of them. An assertion
 * that fails says so on stderr, with the trace of its thread (common/trace.h), and aborts the
 * process, whatever the program does with SIGABRT. Assertions may be used in signal handlers and
 * under any lock.
 *
 *   SC_ASSERT(condition)           what holds whatever the program does; never what the program
 *                                  may do wrong
 *   SC_ASSERT_HELD(&lock)          the calling thread holds the lock
 *   SC_ASSERT_GUARDED(&pool)       the calling thread holds the lock that SC_GUARD has set for a
 *                                  pool, an arena or a map; nothing is checked if none was set
 *   SC_CHECK(statement)            runs a statement that checks more than a condition
 *   SC_CHECK_OF(count, statement)  the same for a statement that examines `count` records: always
 *                                  if they are few, else once in about `count` times
 *
 * Annotations for clang's thread-safety analysis (scripts/check-locks), which other compilers do
 * not see. A function SC_REQUIRES the lock, SC_ACQUIRES it or SC_RELEASES it. A variable is
 * SC_GUARDED_BY a lock. A function that is called without the lock SC_EXCLUDES it. A function that
 * begins a scope with the lock, which its caller's cleanup ends, SC_ENTERS it: clang takes the lock
 * as held from there to the end of the caller. SC_UNFOLLOWED marks a function whose locking clang
 * cannot analyse. */
#ifndef SC_TOOLS_CHECKS_H
#define SC_TOOLS_CHECKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef SC_CHECK_LOCKS /* scripts/check-locks includes this header first */
#define SC_CLANG_(attribute) __attribute__((attribute))
#define SC_TRY_ACQUIRES(result, ...) SC_CLANG_(try_acquire_capability(result, __VA_ARGS__))
#define SC_ACQUIRES(...) SC_CLANG_(acquire_capability(__VA_ARGS__))
#define SC_RELEASES(...) SC_CLANG_(release_capability(__VA_ARGS__))
#define SC_REQUIRES(...) SC_CLANG_(requires_capability(__VA_ARGS__))
#define SC_EXCLUDES(...) SC_CLANG_(locks_excluded(__VA_ARGS__))
#define SC_ENTERS(...) SC_CLANG_(assert_capability(__VA_ARGS__))
#define SC_LOCK SC_CLANG_(capability("mutex"))
#define SC_GUARDED_BY(lock) SC_CLANG_(guarded_by(lock))
#define SC_UNFOLLOWED SC_CLANG_(no_thread_safety_analysis)

typedef pthread_mutex_t sc_checks_mutex SC_LOCK;
int sc_checks_mutex_lock(sc_checks_mutex *mutex) SC_ACQUIRES(*mutex);
int sc_checks_mutex_unlock(sc_checks_mutex *mutex) SC_RELEASES(*mutex);
int sc_checks_mutex_trylock(sc_checks_mutex *mutex) SC_TRY_ACQUIRES(0, *mutex);
#define pthread_mutex_t sc_checks_mutex
#define pthread_mutex_lock sc_checks_mutex_lock
#define pthread_mutex_unlock sc_checks_mutex_unlock
#define pthread_mutex_trylock sc_checks_mutex_trylock
#else
#define SC_TRY_ACQUIRES(result, ...)
#define SC_ACQUIRES(...)
#define SC_RELEASES(...)
#define SC_REQUIRES(...)
#define SC_EXCLUDES(...)
#define SC_ENTERS(...)
#define SC_LOCK
#define SC_GUARDED_BY(lock)
#define SC_UNFOLLOWED
#endif

struct sc_brief_lock;

#ifdef SC_DEBUG

enum { SC_CHECKS_ON = 1 };

_Noreturn void sc_checks_fail(const char *file, int line, const char *function, const char *what);

/* Returns the id of the calling thread. It is read by a system call each time, since a child of
 * fork has another one. */
int32_t sc_checks_thread(void);
/* Is `owner`, the id of the thread that holds a lock, the calling thread's, or, in a child of
 * fork, that of the thread that forked? */
bool sc_checks_is_own(int32_t owner);
int32_t sc_checks_owner_of_mutex(const pthread_mutex_t *lock);
int32_t sc_checks_owner_of_brief(const struct sc_brief_lock *lock);
bool sc_checks_are_due(_Atomic uint32_t *turn, uint64_t count);

#define SC_ASSERT_SAID_(condition, words)                                                          \
    (__builtin_expect(!!(condition), 1) ? (void)0                                                  \
                                        : sc_checks_fail(__FILE__, __LINE__, __func__, words))
#define SC_OWNER_OF_(lock)                                                                         \
    _Generic((lock), pthread_mutex_t *                                                             \
             : sc_checks_owner_of_mutex, const pthread_mutex_t *                                   \
             : sc_checks_owner_of_mutex, default                                                   \
             : sc_checks_owner_of_brief)(lock)
#define SC_ASSERT(condition) SC_ASSERT_SAID_(condition, #condition)
#define SC_ASSERT_HELD(lock) SC_ASSERT_SAID_(sc_checks_is_own(SC_OWNER_OF_(lock)), #lock " is held")
#define SC_ASSERT_NOT_HELD(lock)                                                                   \
    SC_ASSERT_SAID_(SC_OWNER_OF_(lock) != sc_checks_thread(), #lock " is not held")
#define SC_GUARD(memory, lock) ((memory)->guard = (lock))
#define SC_ASSERT_GUARDED(memory)                                                                  \
    SC_ASSERT_SAID_(!(memory)->guard ||                                                            \
                        sc_checks_is_own(sc_checks_owner_of_brief((memory)->guard)),               \
                    #memory " is used with its lock")
#define SC_CHECK(...) __VA_ARGS__
#define SC_CHECK_OF(count, ...)                                                                    \
    do {                                                                                           \
        static _Atomic uint32_t turn_;                                                             \
        if (sc_checks_are_due(&turn_, count))                                                      \
            __VA_ARGS__;                                                                           \
    } while (0)

#else

enum { SC_CHECKS_ON = 0 };

/* Compiles to no code, but what the arguments name counts as used. */
#define SC_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#define SC_ASSERT_HELD(lock) ((void)sizeof(lock))
#define SC_ASSERT_NOT_HELD(lock) ((void)sizeof(lock))
#define SC_GUARD(memory, lock) ((void)sizeof(memory))
#define SC_ASSERT_GUARDED(memory) ((void)sizeof(memory))
#define SC_CHECK(...)
#define SC_CHECK_OF(count, ...) ((void)sizeof(count))

#endif

/* An attribute of a static function that only assertions call: other builds do not use it. */
#define SC_CHECKER __attribute__((unused))

#endif
