// expect-exit: 0
// link: none
//
// libcuda opened, used and closed over and over, and a library without CUDA too. A pointer kept
// from before a dlclose must not be used by anyone.
#include "lookup.h"

int main(void)
{
    for (int i = 0; i < 50; i++) {
        void *driver = open_or_exit("libcuda.so.1", i % 2 ? RTLD_NOW : RTLD_LAZY | RTLD_GLOBAL);
        void *other = open_or_exit("libm.so.6", RTLD_NOW);
        void *init = dlsym(driver, "cuInit");
        void *count = dlsym(driver, "cuDeviceGetCount");
        if (i % 25 == 0)
            show_count("round", init, count);
        else if (!init || !count || AS(init_function, init)(0) != CUDA_SUCCESS)
            printf("round %d failed\n", i);
        CHECK(dlclose(other));
        CHECK(dlclose(driver));
    }
    return 0;
}
