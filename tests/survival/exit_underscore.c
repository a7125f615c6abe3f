// expect-exit: 33
//
// _exit runs no handler and flushes nothing.
#include "exits.h"

int main(void)
{
    CHECK(atexit(at_exit));
    prepare();
    _exit(33);
}
