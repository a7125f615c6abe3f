// expect: none
//
// System calls read and write what lies beside two buffers in flight, on the same pages, and none
// of them has to wait: the copies cannot run before the calls have returned.
#include "files.h"

#include <poll.h>
#include <stdatomic.h>

enum { BESIDE = 256 };

static atomic_bool done;

/* Keeps the stream until the calls are over, and at most for a second. */
static void wait_for_calls(void *unused)
{
    (void)unused;
    for (int i = 0; i < 1000 && !atomic_load(&done); i++)
        usleep(1000);
}

/* All of it in front of, or behind, a buffer in flight. */
static bool moves_bytes(unsigned char *memory, int fd)
{
    struct pollfd *one = (struct pollfd *)(void *)memory;
    bool right = pread(fd, memory, BESIDE, 0) == BESIDE && holds(memory, BESIDE, FOREIGN);
    right &= pwrite(fd, memory, BESIDE, 0) == BESIDE && file_holds(fd, BESIDE, FOREIGN);
    *one = (struct pollfd){.fd = fd, .events = POLLIN};
    return right && poll(one, 1, 0) == 1 && one->revents == POLLIN;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    unsigned char *image = device_block(SMALL, WANTED);
    unsigned char *device = device_block(SMALL, 0);
    unsigned char *source = registered_block(SMALL, WANTED);
    unsigned char *target = registered_block(SMALL, 0);
    size_t bytes = SMALL - 2 * BESIDE;
    int fd = filled_file(BESIDE, FOREIGN);

    CHECK(cudaLaunchHostFunc(stream, wait_for_calls, NULL));
    CHECK(cudaMemcpyAsync(device, source + BESIDE, bytes, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(target + BESIDE, image, bytes, cudaMemcpyDeviceToHost, stream));
    bool right = moves_bytes(source, fd) && moves_bytes(source + SMALL - BESIDE, fd) &&
                 moves_bytes(target, fd) && moves_bytes(target + SMALL - BESIDE, fd);
    bool waited = cudaStreamQuery(stream) == cudaSuccess;
    atomic_store(&done, true);

    CHECK(cudaDeviceSynchronize());
    return finish(right && !waited && holds(target + BESIDE, bytes, WANTED));
}
