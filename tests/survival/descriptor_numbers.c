// expect-exit: 0
//
// Before CUDA is used, the program's files have the numbers that they always had.
#include "descriptors.h"

int main(void)
{
    int first = open_scratch();
    int second = open_scratch();
    SHOW(second - first);
    churn(100);
    SHOW(open_scratch() - second);
    SHOW(first);
    return 0;
}
