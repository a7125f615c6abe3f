// expect: none
// sim: managed_apart=1
// needs: sim
//
// A device that keeps the host from managed memory while it works: to read a source there, for a
// snapshot or to compare it, would be a fault that the program has not made.
#include "managed.h"

#include "tests/bare_call.h"

#include <sys/mman.h>
#include <sys/syscall.h>

int main(void)
{
    cudaStream_t stream = new_stream();
    void *managed = managed_block(2 * SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    const size_t sizes[] = {4096, SMALL};

    for (int i = 0; i < 2; i++) {
        occupy(stream);
        if (bare_call(SYS_mprotect, (long)managed, (long)(2 * SMALL), PROT_NONE) != 0)
            return 3;
        CHECK(cudaMemcpyAsync(to, managed, sizes[i], cudaMemcpyHostToDevice, stream));
        if (bare_call(SYS_mprotect, (long)managed, (long)(2 * SMALL), PROT_READ | PROT_WRITE) != 0)
            return 3;
        CHECK(cudaStreamSynchronize(stream));
    }
    return finish(device_holds(to, SMALL, WANTED));
}
