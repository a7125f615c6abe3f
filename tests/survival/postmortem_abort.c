// expect-exit: -6
// link: cuda
// options: verbosity=0
//
// The program's way to deal with a lost context is to abort. tests/unit/test_postmortem.py reads
// what is said of it on stderr.
#include "faulting.h"

#include <stdlib.h>
#include <sys/resource.h>

int main(void)
{
    struct rlimit no_core = {0, 0};
    CUfunction fault = faulting_kernel();
    CUstream stream = faulting_stream();
    CHECK(setrlimit(RLIMIT_CORE, &no_core));
    CHECK(faulting_launch(fault, stream));
    if (cuStreamSynchronize(stream) != CUDA_SUCCESS)
        abort();
    return 0;
}
