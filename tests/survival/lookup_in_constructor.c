// expect-exit: 0
// link: none
//
// dlsym and dlopen called from a constructor, before main, and from a destructor, after it.
#include "lookup.h"

static void *libc;

__attribute__((constructor(101))) static void early(void)
{
    libc = dlopen("libc.so.6", RTLD_NOW);
    printf("constructor: %d %d\n", libc != NULL, dlsym(libc, "qsort") != NULL);
    free(malloc(100));
}

__attribute__((destructor(101))) static void late(void)
{
    free(malloc(100));
    printf("destructor: %d\n", dlsym(libc, "qsort") != NULL);
    fflush(stdout);
}

int main(void)
{
    SHOW(dlsym(RTLD_DEFAULT, "free") != NULL);
    return 0;
}
