// expect-exit: 37
//
// The process ends before main.
#include "exits.h"

__attribute__((constructor)) static void leave(void)
{
    use_cuda("constructor");
    exit(37);
}

int main(void)
{
    puts("main");
    return 0;
}
