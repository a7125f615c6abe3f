// expect-exit: 0
// link: cuda
// options: verbosity=0
//
// Forks before and after it learns that the context is lost. The children have no device and say
// so; the loss is the parent's.
#include "faulting.h"

#include <sys/wait.h>

static CUstream stream;

static void in_child(void)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        SHOW(cuStreamSynchronize(stream));
        fflush(stdout);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) != child);
    printf("the child ended with %d\n", status);
}

int main(void)
{
    CUfunction fault = faulting_kernel();
    stream = faulting_stream();
    CHECK(faulting_launch(fault, stream));
    in_child();
    SHOW(cuStreamSynchronize(stream));
    in_child();
    SHOW(cuStreamSynchronize(stream));
    return 0;
}
