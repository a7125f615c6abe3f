// expect-exit: 0
//
// dlsym(RTLD_NEXT) in an ordinary program means "after this program"; found from anywhere else, a
// shim around malloc calls itself for ever. Also RTLD_DEFAULT, handles, dlvsym and NULL handles.
#include "lookup.h"

typedef void *malloc_function(size_t size);
typedef void free_function(void *block);

/* The program's own malloc_usable_size-like shim: it exists here and nowhere else. */
__attribute__((visibility("default"))) int only_here(void);
int only_here(void)
{
    return 42;
}

int main(void)
{
    void *next_malloc = dlsym(RTLD_NEXT, "malloc");
    void *next_free = dlsym(RTLD_NEXT, "free");
    void *next_read = dlsym(RTLD_NEXT, "read");
    void *libc = open_or_exit("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    SHOW(next_malloc && next_free && next_read);
    void *block = AS(malloc_function, next_malloc)(100);
    SHOW(block != NULL);
    AS(free_function, next_free)(block);

    SHOW(dlsym(RTLD_NEXT, "only_here") == NULL);
    SHOW(dlsym(RTLD_NEXT, "no_such_function") == NULL);
    SHOW(dlsym(RTLD_DEFAULT, "no_such_function") == NULL);
    SHOW(dlsym(libc, "only_here") == NULL);
    SHOW(dlsym(libc, "cuInit") == NULL);
    SHOW(dlsym(RTLD_DEFAULT, "qsort") == dlsym(libc, "qsort"));
    SHOW(dlvsym(libc, "qsort", GLIBC_FIRST) == dlsym(libc, "qsort"));
    SHOW(dlvsym(libc, "qsort", "GLIBC_9.9") == NULL);
    SHOW(dlvsym(RTLD_DEFAULT, "qsort", GLIBC_FIRST) == dlsym(libc, "qsort"));
    SHOW(dlvsym(RTLD_NEXT, "qsort", GLIBC_FIRST) == dlsym(libc, "qsort"));
    use_cuda("program");
    return 0;
}
