// expect: SC301 action=rerouted certainty=observed event=cuMemcpyDtoH_v2
//
// docs/wild-bugs.md, row 21: a step of a simulation is captured, and in the middle of it somebody
// looks at an array, to log it: .numpy(), a copy to the host on the legacy stream. Fixed, between
// steps.
#include "capture.h"

enum { STEPS = 3 };

static void *numpy(const void *array)
{
    void *copy = filled_block(SMALL, 0);
    TRY(cudaMemcpy(copy, array, SMALL, cudaMemcpyDeviceToHost));
    return copy;
}

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *state = device_block(SMALL, WANTED);
    void *forces = device_block(SMALL, FOREIGN);
    void *next = device_block(SMALL, 0);

    void *logged = fixed ? numpy(forces) : NULL;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(forces, state, stream);
    if (!fixed)
        logged = numpy(forces);
    bool right = holds(logged, SMALL, FOREIGN);
    capture_copy(next, forces, stream);
    cudaGraphExec_t exec = end_capture(stream, 2);

    for (int step = 0; step < STEPS; step++)
        replay(exec, stream);
    return finish(!broken && right && device_holds(next, SMALL, WANTED));
}
