// expect-exit: -11
//
// A plain crash stays the crash that it is.
#include "survival.h"

#include <sys/resource.h>

int main(void)
{
    struct rlimit no_core = {0, 0};
    CHECK(setrlimit(RLIMIT_CORE, &no_core));
    use_cuda("before");
    fflush(stdout);
    volatile int *volatile nowhere = (volatile int *)(uintptr_t)16;
    *nowhere = 1;
    puts("still here");
    return 0;
}
