// expect-exit: 0
//
// A parent that uses CUDA forks children that only use the heap, and end by exit and by _exit. The
// driver does not survive a fork; the program must, and so must the parent's CUDA.
#include "process.h"

static void *inherited;

static void heap_only(void)
{
    churn(2000);
    free(inherited);
    inherited = strdup("the child's own");
    free(inherited);
    printf("child: heap right\n");
}

static void grandchild(void)
{
    in_child("grandchild", heap_only, 7, false);
}

int main(void)
{
    use_cuda("before");
    inherited = malloc(1 << 20);
    CHECK(cudaHostRegister(inherited, 1 << 20, cudaHostRegisterDefault));
    in_child("child by exit", heap_only, 4, true);
    in_child("child by _exit", heap_only, 5, false);
    in_child("child that forks", grandchild, 6, false);
    CHECK(cudaHostUnregister(inherited));
    free(inherited);
    use_cuda("after");
    return 0;
}
