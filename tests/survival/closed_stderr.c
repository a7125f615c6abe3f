// expect-exit: 0
// needs: kernel (execve)
//
// Started without a standard error. The program's first file becomes descriptor 2 and must not
// receive anybody's messages.
#include "descriptors.h"

int main(int argc, char **argv)
{
    live_again_without(2, argc, argv);
    SHOW(open_scratch());
    use_cuda("program");
    churn(100);
    SHOW(size_of(2));
    return 0;
}
