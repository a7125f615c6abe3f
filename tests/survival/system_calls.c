// expect-exit: 0
//
// read, write and their kin on pinned memory with nothing in flight: byte counts, partial results,
// errors.
#include "survival.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { SIZE = 64 << 10 };

int main(void)
{
    char *pinned = NULL;
    void *device = NULL;
    int ends[2];
    CHECK(cudaMallocHost((void **)&pinned, SIZE));
    CHECK(cudaMalloc(&device, SIZE));
    memset(pinned, 'a', SIZE);
    CHECK(cudaMemcpyAsync(device, pinned, SIZE, cudaMemcpyHostToDevice, NULL));
    CHECK(cudaStreamSynchronize(NULL));
    CHECK(pipe(ends));
    SHOW(write(ends[1], pinned, 5000));
    SHOW(read(ends[0], pinned + 100, SIZE - 100));
    struct iovec pieces[] = {{pinned, 10}, {pinned + 5000, 20}};
    SHOW(writev(ends[1], pieces, 2));
    SHOW(readv(ends[0], pieces, 2));
    close(ends[1]);
    SHOW(read(ends[0], pinned, SIZE));
    SHOW(read(999, pinned, SIZE));
    SHOW(errno);
    SHOW(write(ends[0], pinned, SIZE));
    SHOW(errno);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    SHOW(send(ends[0], pinned, 300, 0));
    SHOW(recv(ends[1], pinned, SIZE, 0));
    SHOW(recv(ends[1], pinned, SIZE, MSG_DONTWAIT));
    SHOW(errno == EAGAIN);
    int zero = open("/dev/zero", O_RDONLY);
    SHOW(pread(zero, pinned, SIZE, 0));
    SHOW(pinned[SIZE - 1]);
    CHECK(cudaFreeHost(pinned));
    return 0;
}
