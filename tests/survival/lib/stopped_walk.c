/* Preloaded: stops the first thread that has the list of loaded objects for libsafecopy, by a
 * signal, as a collector may at any time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <string.h>

typedef int visitor(struct dl_phdr_info *info, size_t size, void *context);
typedef int walker(visitor *visit, void *context);

void (*sc_stop_in_walk)(void); /* by the calling thread, once */

static walker *next;

struct walk {
    visitor *visit;
    void *context;
};

static int stop_and_visit(struct dl_phdr_info *info, size_t size, void *context)
{
    const struct walk *walk = context;
    void (*stop)(void) = sc_stop_in_walk;
    sc_stop_in_walk = NULL;
    if (stop)
        stop();
    return walk->visit(info, size, walk->context);
}

static int is_of_library(const void *caller)
{
    Dl_info where;
    return dladdr(caller, &where) && strstr(where.dli_fname, "libsafecopy.so");
}

/* Before anybody has the list. */
__attribute__((constructor)) static void look_up(void)
{
    *(void **)&next = dlsym(RTLD_NEXT, "dl_iterate_phdr");
}

int dl_iterate_phdr(visitor *visit, void *context)
{
    struct walk walk = {visit, context};
    if (!next)
        look_up();
    if (!sc_stop_in_walk || !is_of_library(__builtin_return_address(0)))
        return next(visit, context);
    return next(stop_and_visit, &walk);
}
