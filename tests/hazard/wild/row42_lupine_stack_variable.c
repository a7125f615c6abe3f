// expect: none
//
// https://github.com/lupinemachines/lupine/pull/450: a library (NPP) registers a variable of four
// bytes on its stack, copies into it, and goes on to use the stack around it: its own locals,
// frames of functions that it calls, and a signal's frame lie on the same page. Nobody may protect
// that page, and nothing of it is a mistake.
#include "twin.h"

#include <signal.h>

enum { DEPTH = 24 };

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
    volatile char frame[2048];
    for (size_t i = 0; i < sizeof frame; i++)
        frame[i] = (char)number;
    handled += frame[sizeof frame - 1] == (char)number;
}

/* Writes above and below, on the page of the variable and on those beside it. */
static TWIN_HELPER unsigned use_stack(unsigned depth)
{
    volatile unsigned words[48];
    for (unsigned i = 0; i < 48; i++)
        words[i] = depth + i;
    unsigned sum = depth ? use_stack(depth - 1) : 0;
    for (unsigned i = 0; i < 48; i++)
        sum += words[i] == depth + i;
    return sum;
}

static TWIN_HELPER bool count(cudaStream_t stream, const void *counter, unsigned flags,
                              unsigned round)
{
    volatile unsigned before = round;
    unsigned found = 0;
    volatile unsigned behind = round;
    CHECK(cudaHostRegister(&found, sizeof found, flags));
    busy(stream);
    CHECK(cudaMemcpyAsync(&found, counter, sizeof found, cudaMemcpyDeviceToHost, stream));
    for (unsigned i = 0; i < 100; i++) {
        before += i;
        behind += i;
    }
    raise(SIGUSR1);
    bool right = use_stack(DEPTH) == 48 * (DEPTH + 1);
    CHECK(cudaStreamSynchronize(stream));
    right = right && found == 4711 && before == behind;
    CHECK(cudaHostUnregister(&found));
    return right;
}

int main(void)
{
    static const unsigned flags[] = {cudaHostRegisterMapped, cudaHostRegisterDefault,
                                     cudaHostRegisterPortable};
    cudaStream_t stream = new_stream();
    unsigned value = 4711;
    void *counter = NULL;
    bool right = true;
    signal(SIGUSR1, on_signal);
    CHECK(cudaMalloc(&counter, sizeof value));
    CHECK(cudaMemcpy(counter, &value, sizeof value, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    for (unsigned round = 0; round < 3; round++)
        right = count(stream, counter, flags[round], round) && right;
    return finish(right && handled == 3);
}
