// expect: none
//
// Memory that an exec names is unmapped, and other memory is mapped at the same place (MAP_FIXED)
// before the exec is launched again. The copy was captured while the memory was pageable, and reads
// what lies there in the launch.
#include "graphs.h"

#include <sys/mman.h>

static unsigned char *map_at(void *address, int flags)
{
    void *memory =
        mmap(address, SMALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (memory == MAP_FAILED)
        _exit(3);
    return (unsigned char *)memory;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    unsigned char *memory = map_at(NULL, 0);
    fill(memory, SMALL, FOREIGN);
    cudaGraphExec_t exec = captured_exec(device, memory, SMALL, cudaMemcpyHostToDevice, stream);
    replay(exec, stream);

    CHECK(munmap(memory, SMALL));
    map_at(memory, MAP_FIXED);
    fill(memory, SMALL, WANTED);
    replay(exec, stream);

    CHECK(cudaGraphExecDestroy(exec));
    return finish(device_holds(device, SMALL, WANTED));
}
