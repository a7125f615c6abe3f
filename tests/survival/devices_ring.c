// expect-exit: 0
// sim: devices=4
// needs: multi-gpu
// options: device=1
//
// All devices at once: each fetches its part of a portable buffer in a stream of its own, hands it
// to the next one, by peer access or without, behind an event of the one before, and brings home
// what it was handed. Each device is waited for by itself, and then its memory is freed, while the
// others work on.
#include "survival.h"

enum { DEVICES = 8, BYTES = 256 << 10, ROUNDS = 6 };

static struct device {
    cudaStream_t up, down;
    cudaEvent_t sent;
    unsigned char *own, *handed; /* on the device */
    unsigned char *source, *result;
} devices[DEVICES];
static int count;

static void set_up(int i)
{
    struct device *device = &devices[i];
    CHECK(cudaSetDevice(i));
    CHECK(cudaStreamCreateWithFlags(&device->up, cudaStreamNonBlocking));
    CHECK(cudaStreamCreate(&device->down));
    CHECK(cudaEventCreateWithFlags(&device->sent, cudaEventDisableTiming));
    CHECK(cudaMalloc((void **)&device->own, BYTES));
    CHECK(cudaMalloc((void **)&device->handed, BYTES));
    int other = (i + 1) % count, can = 0;
    CHECK(cudaDeviceCanAccessPeer(&can, i, other));
    if (can && i % 2 == 0)
        CHECK(cudaDeviceEnablePeerAccess(other, 0));
}

/* Both are made with another device current than the one that uses them. */
static void make_host_memory(int i)
{
    struct device *device = &devices[i];
    CHECK(cudaSetDevice((i + 1) % count));
    CHECK(cudaHostAlloc((void **)&device->source, BYTES, cudaHostAllocPortable));
    device->result = malloc(BYTES);
    CHECK(cudaHostRegister(device->result, BYTES, cudaHostRegisterPortable));
    memset(device->result, 0, BYTES);
}

static void send(int i, int round)
{
    struct device *device = &devices[i];
    int next = (i + 1) % count;
    memset(device->source, 16 * round + i, BYTES);
    CHECK(cudaSetDevice(i));
    CHECK(cudaMemcpyAsync(device->own, device->source, BYTES, cudaMemcpyHostToDevice, device->up));
    CHECK(cudaMemcpyPeerAsync(devices[next].handed, next, device->own, i, BYTES, device->up));
    CHECK(cudaEventRecord(device->sent, device->up));
}

static void fetch(int i)
{
    struct device *device = &devices[i];
    CHECK(cudaSetDevice(i));
    CHECK(cudaStreamWaitEvent(device->down, devices[(i + count - 1) % count].sent, 0));
    CHECK(cudaMemcpyAsync(device->result, device->handed, BYTES, cudaMemcpyDeviceToHost,
                          device->down));
}

static bool one_round(int round)
{
    bool right = true;
    for (int i = 0; i < count; i++)
        make_host_memory(i);
    for (int i = 0; i < count; i++)
        send(i, round);
    for (int i = 0; i < count; i++)
        fetch(i);
    /* The last device first; its source was read before the next one could fetch. */
    for (int i = count - 1; i >= 0; i--) {
        struct device *device = &devices[i];
        CHECK(cudaSetDevice(i));
        CHECK(cudaDeviceSynchronize());
        unsigned char wanted = (unsigned char)(16 * round + (i + count - 1) % count);
        right &= device->result[0] == wanted && device->result[BYTES - 1] == wanted;
        CHECK(cudaHostUnregister(device->result));
        free(device->result);
        CHECK(cudaFreeHost(device->source));
    }
    return right;
}

int main(void)
{
    CHECK(cudaGetDeviceCount(&count));
    count = count > DEVICES ? DEVICES : count;
    for (int i = 0; i < count; i++)
        set_up(i);
    for (int round = 0; round < ROUNDS; round++)
        printf("round %d: %s\n", round, one_round(round) ? "right" : "WRONG");
    return 0;
}
