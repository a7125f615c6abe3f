// expect-exit: 0
// needs: kernel (execve)
//
// Started without a standard output. The first file that the program opens takes its number; what
// is printed goes there, and nobody else writes to it.
#include "descriptors.h"

int main(int argc, char **argv)
{
    live_again_without(1, argc, argv);
    int first = open_scratch();
    bool right = round_trip(4096);
    churn(100);
    fprintf(stderr, "first descriptor %d, data %s, size %ld\n", first, right ? "right" : "wrong",
            size_of(first));
    return 0;
}
