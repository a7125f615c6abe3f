// expect: none
//
// A graph names pageable memory of a segment. Another segment is attached at its place before the
// next launch, which reads that.
#include "segment.h"

#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    int first = new_segment(SMALL);
    int second = new_segment(SMALL);
    void *source = attached(first, NULL);
    fill(source, SMALL, FOREIGN);
    cudaGraphExec_t exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, stream);
    replay(exec, stream);

    CHECK(shmdt(source));
    void *again = attached(second, source);
    forget_segment(first);
    forget_segment(second);
    fill(again, SMALL, WANTED);
    replay(exec, stream);
    CHECK(cudaGraphExecDestroy(exec));
    return finish(again == source && device_holds(device, SMALL, WANTED));
}
