// expect-exit: 35
//
// quick_exit runs its own handlers only.
#include "exits.h"

int main(void)
{
    CHECK(atexit(at_exit));
    CHECK(at_quick_exit(at_quick_exit_handler));
    prepare();
    quick_exit(35);
}
