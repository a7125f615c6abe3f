// expect-exit: -6
//
// A handler finds that a stack has overflowed, says so, and aborts, all on an alternate stack of 8
// KB. What the library tells of an abort needs more.
#include "overflowing.h"

static void say_and_end(int number)
{
    static const char words[] = "overflowed\n";
    (void)number;
    if (write(STDOUT_FILENO, words, sizeof words - 1) > 0)
        abort();
}

int main(void)
{
    return overflow_with_copy(say_and_end);
}
