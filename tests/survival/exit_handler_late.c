// expect-exit: 41
//
// An atexit handler registered when CUDA is already in use: it runs before the driver's clean-up,
// and copies.
#include "exits.h"

static void copy(void)
{
    use_cuda("at exit");
}

int main(void)
{
    prepare();
    CHECK(atexit(copy));
    return 41;
}
