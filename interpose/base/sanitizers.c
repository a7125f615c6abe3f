#include "interpose/base/sanitizers.h"

#include <dlfcn.h>
#include <time.h>

#include "common/text.h"
#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"

#include "common/poison.h"

typedef const char *options_function(void);

/* A function of each sanitizer's run-time; NULL where the program has no such run-time. */
extern void asan_init(void) __asm__("__asan_init") __attribute__((weak));
extern void tsan_init(void) __asm__("__tsan_init") __attribute__((weak));

/* ---- past the interceptors ---- */

/* Makes the linker's wrapper of `name`, which calls libc's function past the run-time's
 * interceptor, or, without a run-time, what the name means anyway (__real_). */
#define PAST(name, parameters, arguments, result)                                                  \
    typedef result name##_function parameters;                                                     \
    name##_function __real_##name, __wrap_##name;                                                  \
    static name##_function *past_##name; /* constant once a constructor has run */                 \
    result __wrap_##name parameters                                                                \
    {                                                                                              \
        return sc_unlikely(past_##name != NULL) ? past_##name arguments : __real_##name arguments; \
    }

PAST(memcpy, (void *restrict to, const void *restrict from, size_t size), (to, from, size), void *)
PAST(memmove, (void *to, const void *from, size_t size), (to, from, size), void *)
PAST(memset, (void *to, int byte, size_t size), (to, byte, size), void *)
PAST(memcmp, (const void *one, const void *other, size_t size), (one, other, size), int)
PAST(memchr, (const void *memory, int byte, size_t size), (memory, byte, size), void *)
PAST(memmem, (const void *memory, size_t size, const void *wanted, size_t wanted_size),
     (memory, size, wanted, wanted_size), void *)

PAST(strlen, (const char *text), (text), size_t)
PAST(strnlen, (const char *text, size_t most), (text, most), size_t)
PAST(strcmp, (const char *one, const char *other), (one, other), int)
PAST(strncmp, (const char *one, const char *other, size_t most), (one, other, most), int)
PAST(strchr, (const char *text, int wanted), (text, wanted), char *)
PAST(strrchr, (const char *text, int wanted), (text, wanted), char *)
PAST(strstr, (const char *text, const char *wanted), (text, wanted), char *)
PAST(strspn, (const char *text, const char *accepted), (text, accepted), size_t)
PAST(strcspn, (const char *text, const char *refused), (text, refused), size_t)

PAST(pthread_cond_wait, (pthread_cond_t * cond, pthread_mutex_t *lock), (cond, lock), int)
PAST(pthread_cond_timedwait,
     (pthread_cond_t * cond, pthread_mutex_t *lock, const struct timespec *until),
     (cond, lock, until), int)
PAST(pthread_cond_signal, (pthread_cond_t * cond), (cond), int)
PAST(pthread_cond_broadcast, (pthread_cond_t * cond), (cond), int)

struct sc_past_mutex sc_past_mutex;

#define FIND(libc, where, name) *(void **)(where) = sc_loader_symbol(libc, name)

/* Returns a handle of libc, if the program has a sanitizer's run-time, whose interceptors have
 * libc's names; else NULL. */
static void *libc_past_runtime(void)
{
    return asan_init || tsan_init ? dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* Finds libc's function of this name past a sanitizer's interceptor. NULL: there is no sanitizer,
 * or libc lacks the function; then dlerror() is cleared, which the program has not caused. */
void *sc_sanitizers_past(const char *name)
{
    void *libc = libc_past_runtime();
    void *found = libc ? sc_loader_symbol(libc, name) : NULL;
    if (libc && !found)
        dlerror();
    return found;
}

/* Finds libc's functions when the library is loaded. The library then calls these, and not a
 * sanitizer's interceptors of the same names, which would report races and deadlocks that do not
 * exist. Without a sanitizer nothing is needed. */
static __attribute__((constructor)) void look_up_past(void)
{
    void *libc = libc_past_runtime();
    if (!libc)
        return;
    FIND(libc, &past_memcpy, "memcpy");
    FIND(libc, &past_memmove, "memmove");
    FIND(libc, &past_memset, "memset");
    FIND(libc, &past_memcmp, "memcmp");
    FIND(libc, &past_memchr, "memchr");
    FIND(libc, &past_memmem, "memmem");
    FIND(libc, &past_strlen, "strlen");
    FIND(libc, &past_strnlen, "strnlen");
    FIND(libc, &past_strcmp, "strcmp");
    FIND(libc, &past_strncmp, "strncmp");
    FIND(libc, &past_strchr, "strchr");
    FIND(libc, &past_strrchr, "strrchr");
    FIND(libc, &past_strstr, "strstr");
    FIND(libc, &past_strspn, "strspn");
    FIND(libc, &past_strcspn, "strcspn");
    FIND(libc, &past_pthread_cond_wait, "pthread_cond_wait");
    FIND(libc, &past_pthread_cond_timedwait, "pthread_cond_timedwait");
    FIND(libc, &past_pthread_cond_signal, "pthread_cond_signal");
    FIND(libc, &past_pthread_cond_broadcast, "pthread_cond_broadcast");
    FIND(libc, &sc_past_mutex.pthread_mutex_lock, "pthread_mutex_lock");
    FIND(libc, &sc_past_mutex.pthread_mutex_trylock, "pthread_mutex_trylock");
    FIND(libc, &sc_past_mutex.pthread_mutex_unlock, "pthread_mutex_unlock");
}

/* Has the program ThreadSanitizer's run-time, which watches locks and threads? */
bool sc_sanitizers_see_threads(void)
{
    return tsan_init != NULL;
}

/* ---- AddressSanitizer's options ---- */

/* Returns where the object that has the function is mapped; NULL: in none. */
static const void *object_of(const void *function)
{
    Dl_info where;
    return function && dladdr(function, &where) ? where.dli_fbase : NULL;
}

/* Is AddressSanitizer's run-time the next library after this one, with no other malloc in between?
 * Only then is it harmless that it is not loaded first. */
static bool is_runtime_next(void)
{
    const void *runtime = asan_init ? object_of((const void *)(uintptr_t)asan_init) : NULL;
    return runtime && object_of(sc_loader_next("malloc")) == runtime;
}

/* Returns options to AddressSanitizer, which calls this when it starts. It would end a process in
 * which a preloaded library comes before it, so that check is turned off. The options of the
 * program, in the next function of this name, stay. */
const char *__asan_default_options(void)
{
    static char options[4096];
    options_function *next =
        asan_init ? (options_function *)sc_loader_next("__asan_default_options") : NULL;
    struct sc_text text = sc_text_in(options, sizeof options);
    if (is_runtime_next())
        sc_text_put(&text, "verify_asan_link_order=0:");
    if (next)
        sc_text_put(&text, next());
    return options;
}
