// expect-exit: 0
//
// dlerror reports the program's own failed look-up, once, in its own words, and a look-up that
// succeeds leaves nothing behind. The library's look-ups in between must not show.
#include "lookup.h"

static void show_error(const char *after)
{
    const char *error = dlerror();
    printf("after %s: %s\n", after, error ? error : "nothing");
}

int main(void)
{
    void *libc = open_or_exit("libc.so.6", RTLD_NOW);
    show_error("start");
    SHOW(dlsym(RTLD_DEFAULT, "cuptiSubscribe") == NULL);
    SHOW(dlerror() != NULL);
    SHOW(dlsym(open_or_exit(NULL, RTLD_NOW), "cuptiSubscribe") == NULL);
    SHOW(dlerror() != NULL);
    SHOW(dlsym(libc, "cuNoSuchThing") == NULL);
    show_error("a failed dlsym");
    show_error("a second dlerror");
    SHOW(dlsym(libc, "qsort") != NULL);
    show_error("a good dlsym");
    SHOW(dlsym(libc, "no_such_function") == NULL);
    use_cuda("between");
    churn(100);
    show_error("a failed dlsym and CUDA calls");
    SHOW(dlsym(open_or_exit(NULL, RTLD_NOW), "cuptiSubscribe") == NULL); /* whoever loaded one */
    SHOW(dlerror() != NULL);
    SHOW(dlopen("libnosuch.so.9", RTLD_NOW) == NULL);
    show_error("a failed dlopen");
    SHOW(dlvsym(libc, "qsort", "GLIBC_9.9") == NULL);
    show_error("a failed dlvsym");
    return 0;
}
