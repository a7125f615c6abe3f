// expect: SC301 action=rerouted certainty=observed
//
// Four operations on the legacy stream during one capture, each of which goes on with what the one
// before it did.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = fixed ? new_stream() : blocking_stream();
    char *one = (char *)device_block(SMALL, 0);
    char *two = (char *)device_block(SMALL, 0);
    void *to = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    char *result = (char *)filled_block(SMALL, 0);
    char *wanted = (char *)filled_block(SMALL, WANTED);
    memset(wanted, 0x5a, SMALL / 2);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TRY(cudaMemcpyAsync(one, source, SMALL, cudaMemcpyHostToDevice, 0));
    TRY(cudaMemsetAsync(one, 0x5a, SMALL / 2, 0));
    capture_copy(to, two, stream);
    TRY(cudaMemcpyAsync(two, one, SMALL, cudaMemcpyDeviceToDevice, 0));
    TRY(cudaMemcpy(result, two, SMALL, cudaMemcpyDeviceToHost));
    bool right = memcmp(result, wanted, SMALL) == 0;

    replay(end_capture(stream, 1), stream);
    CHECK(cudaMemcpy(result, to, SMALL, cudaMemcpyDeviceToHost));
    return finish(!broken && right && memcmp(result, wanted, SMALL) == 0);
}
