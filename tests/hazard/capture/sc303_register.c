// expect: SC303 action=rerouted certainty=observed event=cuMemHostRegister_v2
//
// A thread registers its buffer while another thread captures. Fixed, the capture is ThreadLocal.
#include "capture.h"

static void *enrol(void *block)
{
    TRY(cudaHostRegister(block, SMALL, cudaHostRegisterDefault));
    return NULL;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *others = separate_block(SMALL, FOREIGN);

    CHECK(cudaStreamBeginCapture(stream, fixed ? cudaStreamCaptureModeThreadLocal
                                               : cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    on_other_thread(enrol, others);
    cudaGraphExec_t exec = end_capture(stream, 1);

    TRY(cudaHostUnregister(others));
    replay(exec, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
