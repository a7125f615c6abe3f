// expect-exit: -6
//
// A double free of plain memory, with CUDA in use, ends as the C library ends it, message included.
#include "survival.h"

#include <sys/resource.h>

int main(void)
{
    struct rlimit no_core = {0, 0};
    CHECK(setrlimit(RLIMIT_CORE, &no_core));
    void *registered = malloc(1 << 16);
    CHECK(cudaHostRegister(registered, 1 << 16, cudaHostRegisterDefault));
    use_cuda("before");
    fflush(stdout);
    void *volatile block = malloc(2000);
    void *volatile fence = malloc(2000);
    free(block);
    free(block);
    puts("not reached");
    free(fence);
    return 0;
}
