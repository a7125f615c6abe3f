// expect-exit: 34
//
// _Exit is _exit.
#include "exits.h"

int main(void)
{
    CHECK(atexit(at_exit));
    prepare();
    _Exit(34);
}
