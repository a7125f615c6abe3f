// expect-exit: 0
//
// Direct and asynchronous file I/O with memory beside a buffer in flight. Where the file system
// knows no O_DIRECT, the same calls are made without.
#include "in_flight.h"

#include <aio.h>
#include <fcntl.h>

static int open_direct(void)
{
    int fd = open("/tmp", O_TMPFILE | O_RDWR | O_DIRECT, 0600);
    return fd >= 0 ? fd : open("/tmp", O_TMPFILE | O_RDWR, 0600);
}

static long finish(struct aiocb *request)
{
    const struct aiocb *const list[] = {request};
    while (aio_error(request) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    return aio_return(request);
}

int main(void)
{
    unsigned char *edge = edge_start();
    int fd = open_direct();
    if (fd < 0)
        return 3;
    CHECK(ftruncate(fd, 4096));
    memset(edge, 'd', EDGE);
    SHOW_BESIDE(pwrite(fd, edge, 512, 0));
    SHOW_BESIDE(pread(fd, edge + 1024, 512, 0));
    SHOW(edge[1024 + 511]);
    struct aiocb writing = {.aio_fildes = fd, .aio_buf = edge, .aio_nbytes = 1024};
    struct aiocb reading = {.aio_fildes = fd, .aio_buf = edge + 1024, .aio_nbytes = 1024};
    SHOW_BESIDE(aio_write(&writing) == 0 ? finish(&writing) : -1);
    SHOW_BESIDE(aio_read(&reading) == 0 ? finish(&reading) : -1);
    SHOW(edge[2047]);
    return 0;
}
