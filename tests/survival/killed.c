// expect-exit: -15
//
// Ended by a signal that it does not handle, with CUDA in use.
#include "survival.h"

#include <signal.h>

int main(void)
{
    use_cuda("before");
    fflush(stdout);
    raise(SIGTERM);
    return 0;
}
