#include "interpose/sanitizers.h"

#include <dlfcn.h>

#include "interpose/loader.h"
#include "report/text.h"

#include "track/poison.h"

typedef const char *options_function(void);

/* NULL where the program has no such run-time. */
extern void asan_init(void) __asm__("__asan_init") __attribute__((weak));

static const void *object_of(const void *function)
{
    Dl_info where;
    return function && dladdr(function, &where) ? where.dli_fbase : NULL;
}

/* Nobody's malloc between us and the run-time's. */
static bool is_next(void)
{
    const void *runtime = asan_init ? object_of((const void *)(uintptr_t)asan_init) : NULL;
    return runtime && object_of(sc_loader_next("malloc")) == runtime;
}

const char *__asan_default_options(void)
{
    static char options[4096];
    struct sc_text text;
    options_function *next =
        asan_init ? (options_function *)sc_loader_next("__asan_default_options") : NULL;
    sc_text_init(&text, options, sizeof options);
    if (is_next())
        sc_text_put(&text, "verify_asan_link_order=0:");
    if (next)
        sc_text_put(&text, next());
    return options;
}
