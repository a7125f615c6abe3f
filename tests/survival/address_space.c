// expect-exit: 0
//
// A moderate RLIMIT_AS, set before CUDA is used: the library must not need address space in the
// gigabytes. (A real driver does; there the program only says so.)
#include "survival.h"

#include <sys/resource.h>

int main(void)
{
    int count = 0;
    struct rlimit moderate = {(rlim_t)3 << 30, (rlim_t)3 << 30};
    SHOW(setrlimit(RLIMIT_AS, &moderate));
    if (cudaGetDeviceCount(&count) != cudaSuccess || cudaSetDevice(0) != cudaSuccess) {
        puts("no room for the driver");
        return 0;
    }
    for (int i = 0; i < 10; i++) {
        if (!round_trip((size_t)1 << 20))
            puts("wrong");
    }
    churn(1000);
    SHOW(malloc((size_t)8 << 30) == NULL);
    SHOW(errno == ENOMEM);
    use_cuda("limited");
    return 0;
}
