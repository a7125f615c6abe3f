// expect-exit: 36
//
// An atexit handler ends the process by _exit with another status, after flushing by hand.
#include "exits.h"

static void leave(void)
{
    fflush(stdout);
    _exit(36);
}

int main(void)
{
    CHECK(atexit(leave));
    CHECK(atexit(at_exit));
    prepare();
    return 1;
}
