// expect-exit: 0
//
// The child uses CUDA before its parent ever does, as workers of a pool do; then another child,
// then the parent.
#include "process.h"

static void child_uses_cuda(void)
{
    use_cuda("child");
}

int main(void)
{
    churn(100);
    in_child("first child", child_uses_cuda, 0, true);
    in_child("second child", child_uses_cuda, 0, false);
    use_cuda("parent");
    return 0;
}
