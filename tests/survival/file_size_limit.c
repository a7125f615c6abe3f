// expect-exit: 0
//
// From some moment on no file may grow (RLIMIT_FSIZE is 0), and SIGXFSZ has its default action. A
// report that can no longer be written may be lamented on stderr, which goes nowhere here; the
// program must not die of it.
#include "survival.h"

#include <sys/resource.h>

int main(void)
{
    struct rlimit nothing = {0, 0};
    use_cuda("before");
    if (!freopen("/dev/null", "w", stderr))
        return 4;
    SHOW(setrlimit(RLIMIT_FSIZE, &nothing));
    churn(100);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
