// expect-exit: 0
// sim: devices=4
// needs: multi-gpu
// options: device=1
//
// A device is reset, by the runtime and again after new work, while every other one works with
// memory of the host: what these have in flight arrives, and is freed behind their own waits.
#include "survival.h"

enum { DEVICES = 8, BYTES = 256 << 10, RESETS = 3 };

static struct work {
    cudaStream_t stream;
    unsigned char *device, *source, *result;
} works[DEVICES];

static void begin(int device, unsigned char value)
{
    struct work *work = &works[device];
    CHECK(cudaSetDevice(device));
    CHECK(cudaStreamCreateWithFlags(&work->stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc((void **)&work->device, BYTES));
    CHECK(cudaHostAlloc((void **)&work->source, BYTES, cudaHostAllocPortable));
    work->result = malloc(BYTES);
    CHECK(cudaHostRegister(work->result, BYTES, cudaHostRegisterDefault));
    memset(work->source, value, BYTES);
    memset(work->result, 0, BYTES);
    CHECK(cudaMemcpyAsync(work->device, work->source, BYTES, cudaMemcpyHostToDevice, work->stream));
    CHECK(cudaMemcpyAsync(work->result, work->device, BYTES, cudaMemcpyDeviceToHost, work->stream));
}

static bool end(int device, unsigned char value)
{
    struct work *work = &works[device];
    CHECK(cudaSetDevice(device));
    CHECK(cudaStreamSynchronize(work->stream));
    bool right = work->result[0] == value && work->result[BYTES - 1] == value;
    CHECK(cudaHostUnregister(work->result));
    free(work->result);
    CHECK(cudaFreeHost(work->source));
    CHECK(cudaFree(work->device));
    CHECK(cudaStreamDestroy(work->stream));
    return right;
}

/* Its work is waited for: what a reset does to a copy in flight is not asked here. */
static void reset(int device)
{
    CHECK(cudaSetDevice(device));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaHostUnregister(works[device].result));
    free(works[device].result);
    CHECK(cudaDeviceReset());
}

int main(void)
{
    int count = 0;
    CHECK(cudaGetDeviceCount(&count));
    count = count > DEVICES ? DEVICES : count;
    for (int round = 0; round < RESETS; round++) {
        int one = (round + 1) % count;
        bool right = true;
        for (int i = 0; i < count; i++)
            begin(i, (unsigned char)(16 * round + i + 1));
        reset(one);
        for (int i = 0; i < count; i++)
            right &= i == one || end(i, (unsigned char)(16 * round + i + 1));
        printf("device %d reset: the others' data is %s\n", one, right ? "right" : "WRONG");
    }
    return 0;
}
