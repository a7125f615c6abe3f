// expect-exit: 0
// preload-also: dlsym_allocator
//
// An allocator whose first call looks functions up with dlsym, which allocates, which calls it: the
// knot in which an interposed dlsym hangs at start-up.
#include "survival.h"

int main(void)
{
    churn(1000);
    use_cuda("program");
    void *block = realloc(NULL, 100);
    block = realloc(block, 100000);
    SHOW(block != NULL);
    free(block);
    return 0;
}
