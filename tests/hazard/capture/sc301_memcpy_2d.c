// expect: SC301 action=rerouted certainty=observed
//
// A synchronous copy of a rectangle to the host while a blocking stream captures.
#include "capture.h"

enum { PITCH = 512, WIDTH = 200, HEIGHT = 128 }; /* 64 KB */

static void download(void *result, const void *from)
{
    TRY(cudaMemcpy2D(result, PITCH, from, PITCH, WIDTH, HEIGHT, cudaMemcpyDeviceToHost));
}

/* Row by row: the rectangle as it was on the device, and what was on the host beside it. */
static bool is_rectangle(const char *result)
{
    char *wanted = (char *)filled_block(SMALL, WANTED);
    char *beside = (char *)filled_block(SMALL, FOREIGN);
    bool right = true;
    for (size_t at = 0; at < SMALL; at += PITCH)
        right = right && memcmp(result + at, wanted + at, WIDTH) == 0 &&
                memcmp(result + at + WIDTH, beside + at + WIDTH, PITCH - WIDTH) == 0;
    free(wanted);
    free(beside);
    return right;
}

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *result = filled_block(SMALL, FOREIGN);

    if (fixed)
        download(result, from);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    if (!fixed)
        download(result, from);
    bool right = is_rectangle((char *)result);

    replay(end_capture(stream, 1), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
