// expect-exit: 0
// link: cuda
// sim: devices=4
// needs: multi-gpu
// options: device=1
//
// Each device has its primary context and two of the user's. All fetch from one portable buffer;
// one context of a device ends while the other and those of other devices work; an event of any is
// waited for in all.
#include "survival.h"

#include <cuda.h>

enum { DEVICES = 8, CONTEXTS = 3, BYTES = 128 << 10, ROUNDS = 2 };

static struct place {
    CUcontext context;
    CUstream stream;
    CUevent fetched;
    CUdeviceptr block;
} places[DEVICES][CONTEXTS];
static int count;
static unsigned char *source;

static void make_context(int device, int i)
{
    struct place *place = &places[device][i];
    CUdevice handle = 0;
    CHECK(cuDeviceGet(&handle, device));
    if (i == 0)
        CHECK(cuDevicePrimaryCtxRetain(&place->context, handle));
    else
        CHECK(cuCtxCreate(&place->context, NULL, 0, handle));
    CHECK(cuCtxSetCurrent(place->context));
    CHECK(cuStreamCreate(&place->stream, i == 1 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&place->fetched, CU_EVENT_DISABLE_TIMING));
    CHECK(cuMemAlloc(&place->block, BYTES));
}

static void end_context(int device, int i)
{
    CUdevice handle = 0;
    CHECK(cuDeviceGet(&handle, device));
    if (i == 0)
        CHECK(cuDevicePrimaryCtxRelease(handle));
    else
        CHECK(cuCtxDestroy(places[device][i].context));
}

static void for_all(void (*act)(int device, int i))
{
    for (int device = 0; device < count; device++)
        for (int i = 0; i < CONTEXTS; i++)
            act(device, i);
}

static void fetch(int device, int i)
{
    struct place *place = &places[device][i];
    CHECK(cuCtxSetCurrent(place->context));
    CHECK(cuMemcpyHtoDAsync(place->block, source, BYTES, place->stream));
    CHECK(cuEventRecord(place->fetched, place->stream));
}

/* Behind the fetches of the last context of every device. */
static void wait_for_others(int device, int i)
{
    for (int other = 0; i < CONTEXTS - 1 && other < count; other++)
        CHECK(cuStreamWaitEvent(places[device][i].stream, places[other][CONTEXTS - 1].fetched, 0));
}

static bool holds(int device, int i, unsigned char value)
{
    struct place *place = &places[device][i];
    unsigned char byte = 0;
    CHECK(cuCtxSetCurrent(place->context));
    CHECK(cuMemcpyDtoH(&byte, place->block + BYTES - 1, 1));
    return byte == value;
}

static bool one_round(unsigned char value)
{
    bool right = true;
    CHECK(cuCtxSetCurrent(places[0][0].context));
    CHECK(cuMemHostAlloc((void **)&source, BYTES, CU_MEMHOSTALLOC_PORTABLE));
    memset(source, value, BYTES);
    for_all(fetch);
    for_all(wait_for_others);
    for_all(fetch);
    for (int device = count - 1; device >= 0; device--) {
        CHECK(cuEventSynchronize(places[device][CONTEXTS - 1].fetched));
        CHECK(cuCtxSetCurrent(places[device][CONTEXTS - 1].context));
        right &= holds(device, CONTEXTS - 1, value);
        end_context(device, CONTEXTS - 1);
    }
    for (int device = 0; device < count; device++)
        for (int i = 0; i < CONTEXTS - 1; i++) {
            CHECK(cuStreamSynchronize(places[device][i].stream));
            right &= holds(device, i, value);
        }
    memset(source, 0, BYTES);
    CHECK(cuCtxSetCurrent(places[0][0].context));
    CHECK(cuMemFreeHost(source));
    for (int device = 0; device < count; device++)
        for (int i = 0; i < CONTEXTS - 1; i++)
            end_context(device, i);
    return right;
}

int main(void)
{
    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&count));
    count = count > DEVICES ? DEVICES : count;
    for (int round = 0; round < ROUNDS; round++) {
        for_all(make_context);
        printf("round %d: %s\n", round, one_round((unsigned char)(round + 7)) ? "right" : "WRONG");
    }
    return 0;
}
