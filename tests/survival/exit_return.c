// expect-exit: 31
//
// Returns from main; atexit handlers and destructors use the heap and CUDA.
#include "exits.h"

__attribute__((destructor)) static void destroy(void)
{
    free(malloc(5000));
    puts("destructor");
}

int main(void)
{
    CHECK(atexit(at_exit));
    prepare();
    return 31;
}
