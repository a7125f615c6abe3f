// expect-exit: 0
// preload-also: early
//
// A library whose constructor runs before those of most others uses CUDA there, and again in its
// destructor; the program itself uses CUDA in a constructor and in a destructor of its own.
#include "survival.h"

__attribute__((constructor(101))) static void early(void)
{
    use_cuda("constructor");
}

__attribute__((destructor(101))) static void late(void)
{
    churn(100);
    puts("destructor");
    fflush(stdout);
}

int main(void)
{
    use_cuda("main");
    return 0;
}
