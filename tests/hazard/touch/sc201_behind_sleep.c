// expect: SC201 action=stalled kind=pinned event=memory-write
// expect: SC202 action=stalled kind=pinned direction=D2H event=memory-read
// expect: SC202 action=stalled kind=pinned direction=memset event=memory-read
// expect: SC203 action=stalled kind=registered direction=D2H event=memory-write
// expect: SC201 action=stalled kind=pinned event=cuMemcpyDtoH_v2
// not-by: ranges
//
// Each copy stands behind a host function that sleeps: while it does, the host overwrites a source,
// reads a result and a memset, overwrites rows that are to come, and downloads into a source. In
// mode=report nobody waits, and the function's code says that none of that is what it waits for.
#include "naps.h"
#include "touch.h"

enum { WIDTH = 4096, ROWS = 64 };

static cudaStream_t stream;

static void wait_if_fixed(void)
{
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
}

static bool overwrites(void *device, unsigned char *source)
{
    fill(source, LARGE, WANTED);
    CHECK(cudaLaunchHostFunc(stream, nap, NULL));
    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, stream));
    wait_if_fixed();
    poke(source, 5);
    CHECK(cudaStreamSynchronize(stream));
    return device_holds(device, LARGE, WANTED);
}

static bool reads(const void *device, unsigned char *result)
{
    fill(result, LARGE, FOREIGN);
    CHECK(cudaLaunchHostFunc(stream, nap, NULL));
    CHECK(cudaMemcpyAsync(result, device, LARGE, cudaMemcpyDeviceToHost, stream));
    wait_if_fixed();
    bool right = peek(result, 5);
    CHECK(cudaStreamSynchronize(stream));
    return right;
}

static bool reads_what_is_set(unsigned char *result)
{
    fill(result, LARGE, FOREIGN);
    CHECK(cudaLaunchHostFunc(stream, nap, NULL));
    CHECK(cudaMemsetAsync(result, WANTED, LARGE, stream));
    wait_if_fixed();
    bool right = ((volatile unsigned char *)result)[5] == WANTED;
    CHECK(cudaStreamSynchronize(stream));
    return right;
}

static bool overwrites_rows(const void *device, unsigned char *result)
{
    CHECK(cudaLaunchHostFunc(stream, nap, NULL));
    CHECK(cudaMemcpy2DAsync(result, WIDTH, device, WIDTH, WIDTH, ROWS, cudaMemcpyDeviceToHost,
                            stream));
    wait_if_fixed();
    poke(result, WIDTH + 5);
    CHECK(cudaStreamSynchronize(stream));
    return result[WIDTH + 5] == pattern(FOREIGN, WIDTH + 5);
}

static bool downloads(void *device, const void *other, unsigned char *source)
{
    fill(source, LARGE, WANTED);
    CHECK(cudaLaunchHostFunc(stream, nap, NULL));
    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, stream));
    wait_if_fixed();
    CHECK(cudaMemcpy(source, other, LARGE, cudaMemcpyDeviceToHost));
    CHECK(cudaStreamSynchronize(stream));
    return device_holds(device, LARGE, WANTED);
}

int main(void)
{
    stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *wanted = device_block(LARGE, WANTED);
    void *foreign = device_block(LARGE, FOREIGN);
    unsigned char *pinned = pinned_block(LARGE, FOREIGN);
    unsigned char *registered = NULL;
    if (posix_memalign((void **)&registered, 65536, LARGE) != 0)
        return 3;
    CHECK(cudaHostRegister(registered, LARGE, cudaHostRegisterDefault));

    bool right = overwrites(device, pinned);
    right = reads(wanted, pinned) && right;
    right = reads_what_is_set(pinned) && right;
    right = overwrites_rows(wanted, registered) && right;
    right = downloads(device, foreign, pinned) && right;
    return finish(right);
}
