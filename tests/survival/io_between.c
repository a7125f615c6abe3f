// expect-exit: 0
//
// A buffer is written by one copy and read by the next, and another thread looks for data of a peer
// beside it just when the first of them ends: the program may read the buffer then.
#include "in_flight.h"

#include <pthread.h>
#include <sys/socket.h>

enum { PAGE = 4096, PAGES = 16, BYTES = PAGES * PAGE - 128, OTHERS = 200, ROUNDS = 150 };

static unsigned char *buffer, *others;
static void *device;
static int ends[2];
static atomic_int round_begun;

static void *look(void *unused)
{
    unsigned spread = 1;
    (void)unused;
    for (int next = 1; next <= ROUNDS; next++) {
        while (atomic_load(&round_begun) < next)
            continue;
        spread = spread * 1103515245 + 12345;
        for (volatile unsigned i = 0; i < (spread >> 16) % 4096; i++)
            continue;
        recv(ends[1], buffer + BYTES, 64, MSG_DONTWAIT);
    }
    return NULL;
}

static long sum_of_pages(void)
{
    long sum = 0;
    for (int i = 0; i < PAGES; i++)
        sum += *(volatile unsigned char *)&buffer[i * PAGE];
    return sum;
}

int main(void)
{
    cudaStream_t stream;
    cudaEvent_t first_is_done;
    pthread_t thread;
    long sum = 0;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    CHECK(cudaMallocHost((void **)&buffer, PAGES * PAGE));
    CHECK(cudaMallocHost((void **)&others, 2 * OTHERS * PAGE));
    CHECK(cudaMalloc(&device, PAGES * PAGE));
    CHECK(cudaMemset(device, 1, PAGES * PAGE));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&first_is_done));
    CHECK(pthread_create(&thread, NULL, look, NULL));
    for (int i = 1; i <= ROUNDS; i++) {
        CHECK(cudaMemcpyAsync(buffer, device, BYTES, cudaMemcpyDeviceToHost, stream));
        for (size_t other = 0; other < OTHERS; other++)
            CHECK(cudaMemcpyAsync(others + 2 * other * PAGE, device, PAGE, cudaMemcpyDeviceToHost,
                                  stream));
        CHECK(cudaEventRecord(first_is_done, stream));
        hold_stream(stream);
        CHECK(cudaMemcpyAsync(device, buffer, BYTES, cudaMemcpyHostToDevice, stream));
        atomic_store(&round_begun, i);
        CHECK(cudaEventSynchronize(first_is_done));
        sum += sum_of_pages();
        let_go();
        CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(pthread_join(thread, NULL));
    SHOW(sum);
    return 0;
}
