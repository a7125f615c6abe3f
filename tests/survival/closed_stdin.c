// expect-exit: 0
// needs: kernel (execve)
//
// Started without a standard input. The first file that the program opens is descriptor 0.
#include "descriptors.h"

int main(int argc, char **argv)
{
    live_again_without(0, argc, argv);
    SHOW(open_scratch());
    use_cuda("program");
    churn(100);
    SHOW(size_of(0));
    return 0;
}
