// expect-exit: 38
//
// exit_group by syscall(2): nobody gets a last word.
#include "exits.h"

#include <sys/syscall.h>

int main(void)
{
    CHECK(atexit(at_exit));
    prepare();
    return (int)syscall(SYS_exit_group, 38);
}
