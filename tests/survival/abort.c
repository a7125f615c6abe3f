// expect-exit: -6
//
// abort() with CUDA in use: the signal, and no flushed stdout.
#include "survival.h"

#include <sys/resource.h>

int main(void)
{
    struct rlimit no_core = {0, 0};
    CHECK(setrlimit(RLIMIT_CORE, &no_core));
    use_cuda("before");
    fflush(stdout);
    fputs("lost in the buffer", stdout);
    abort();
}
