// expect-exit: 0
// link: none
// options: verbosity=2
// says: loaded, and saw no use of CUDA in this process
//
// A program without CUDA says at its end that the library was loaded. Its forked children do not:
// one that ends by exit, one that ends by _exit after an exec that fails, and one that becomes a
// program without the library.
#include "process.h"

static void does_nothing(void)
{
}

static void fails_to_exec(void)
{
    execl("/nonexistent", "nonexistent", (char *)NULL);
    _exit(127);
}

static void execs(void)
{
    unsetenv("LD_PRELOAD");
    execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
}

int main(void)
{
    in_child("a child that ends", does_nothing, 0, true);
    in_child("a child without a program", fails_to_exec, 0, false);
    in_child("a child with a program", execs, 0, false);
    return 0;
}
