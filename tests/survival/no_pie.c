// expect-exit: 0
// link: cuda
// cflags: -fno-pie -no-pie
//
// A program that is not position-independent has functions whose address it takes be jumps of its
// own, and asks for them by its own handle as well: what it gets there leads to the driver.
#include "lookup.h"

int main(void)
{
    init_function *volatile linked = cuInit;
    count_function *volatile linked_count = cuDeviceGetCount;
    void *program = open_or_exit(NULL, RTLD_LAZY);
    void *init = dlsym(program, "cuInit");
    void *copy = dlsym(program, "cuMemcpyHtoDAsync_v2");
    int count = 0;
    SHOW(init && copy);
    SHOW(AS(init_function, init)(0));
    SHOW(linked(0));
    SHOW(linked_count(&count));
    SHOW(count > 0);
    use_cuda("program");
    return 0;
}
