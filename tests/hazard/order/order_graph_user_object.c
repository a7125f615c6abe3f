// expect: SC403 action=stalled certainty=observed
//
// Established by the destructor of a user object, which an exec keeps until its last launch is
// done. The racy build does not wait for it, and lets go of the exec only then: behind that nobody
// could tell.
#include "flag.h"
#include "graphs.h"

int main(void)
{
    atomic_int flag = 0;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    cudaUserObject_t object = NULL;
    cudaGraph_t graph = captured_copy(device, input, SMALL, cudaMemcpyHostToDevice, stream);
    CHECK(cudaUserObjectCreate(&object, &flag, raise_flag, 1, cudaUserObjectNoDestructorSync));
    CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    cudaGraphExec_t exec = instantiate_only(graph);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaLaunchHostFunc(stream, sleep_in_stream, NULL));
    if (!fixed)
        fill(input, SMALL, FOREIGN);
    CHECK(cudaGraphExecDestroy(exec));
    while (fixed && atomic_load(&flag) == 0)
        usleep(500);
    if (fixed)
        fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
