// expect-exit: 0
// needs: sim
//
// With CUDA in use the limit on open files drops to what is open: nothing new can be opened, and
// copies, frees and the exit go on.
#include "descriptors.h"

#include <sys/resource.h>

int main(void)
{
    use_cuda("before");
    struct rlimit none = {3, 3};
    SHOW(setrlimit(RLIMIT_NOFILE, &none));
    SHOW(open("/dev/null", O_RDONLY) >= 0);
    SHOW(errno == EMFILE);
    for (int i = 0; i < 20; i++) {
        if (!round_trip(16384))
            puts("wrong");
    }
    churn(1000);
    use_cuda("after");
    return 0;
}
