// options: verbosity=0
//
// No file may grow (RLIMIT_FSIZE is 0), and SIGXFSZ has its default action. A report that cannot be
// written is no reason for the program to die of that signal.
#include "survival.h"

#include <sys/resource.h>

int main(void)
{
    struct rlimit nothing = {0, 0};
    SHOW(setrlimit(RLIMIT_FSIZE, &nothing));
    use_cuda("first");
    churn(100);
    use_cuda("second");
    return 0;
}
