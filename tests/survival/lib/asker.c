/* Asks dlsym from inside a library that was opened with RTLD_LOCAL. */
#define _GNU_SOURCE
#include <dlfcn.h>

const char *asker_next(void);
const char *asker_default(void);
const char *asker_self(void);

/* Next after this library, in its own scope: its own symbols are not. */
const char *asker_next(void)
{
    return dlsym(RTLD_NEXT, "asker_self") == 0 ? "next: not me" : "next: me";
}

/* The default scope of a local library includes itself. */
const char *asker_default(void)
{
    return dlsym(RTLD_DEFAULT, "asker_self") == (void *)asker_self ? "default: me"
                                                                   : "default: not me";
}

const char *asker_self(void)
{
    return dlsym(RTLD_NEXT, "malloc") != 0 ? "malloc comes next" : "no malloc";
}
