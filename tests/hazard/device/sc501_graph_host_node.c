// expect: SC501 action=ordered kind=device direction=memset event=cuMemcpyHtoDAsync_v2
// options: device=1
//
// A graph clears two buffers, with a host node behind the first memset. The program waits until
// that node has run, and then fills a buffer in another stream. The racy build fills the second
// one.
#include "graphs.h"

#include "flag.h"

int main(void)
{
    static atomic_int flag;
    cudaStream_t work = new_stream(), up = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *first = device_block(SMALL, FOREIGN), *second = device_block(SMALL, FOREIGN);
    begin_capture(work);
    CHECK(cudaMemsetAsync(first, 0, SMALL, work));
    CHECK(cudaLaunchHostFunc(work, raise_flag, &flag));
    busy(work);
    CHECK(cudaMemsetAsync(second, 0, SMALL, work));
    cudaGraphExec_t exec = instantiate_only(end_capture(work));

    CHECK(cudaGraphLaunch(exec, work));
    while (!atomic_load(&flag))
        usleep(100);
    CHECK(cudaMemcpyAsync(fixed ? first : second, source, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(fixed ? first : second, SMALL, WANTED));
}
