// expect-exit: 0
// cflags: -Wpedantic -Wconversion -Werror
//
// include/safecopy.h in C++, without a warning.
#include "include/safecopy.h"

#include "survival.h"

int main()
{
    safecopy_counts counts;
    safecopy_set_label("C++");
    use_cuda("main");
    safecopy_ignore_begin("nothing");
    safecopy_ignore_end();
    printf("%d\n", static_cast<int>(safecopy_get_counts(&counts, sizeof counts)));
    safecopy_dump();
    safecopy_release();
    return 0;
}
