/* Files and sockets for the twins whose memory the kernel touches. Include it first: it asks for
 * GNU extensions. */
#ifndef SC_TESTS_HAZARD_FILES_H
#define SC_TESTS_HAZARD_FILES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "twin.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* For calls that must do all of it. */
#define ALL(call, size_bytes) CHECK((call) != (ssize_t)(size_bytes))

/* An unnamed file that holds the pattern of `seed`, at its start. */
static TWIN_HELPER int filled_file(size_t size_bytes, unsigned seed)
{
    int fd = memfd_create("twin", 0);
    void *image = filled_block(size_bytes, seed);
    ALL(pwrite(fd, image, size_bytes, 0), size_bytes);
    free(image);
    return fd;
}

static TWIN_HELPER bool file_holds(int fd, size_t size_bytes, unsigned seed)
{
    void *image = malloc(size_bytes);
    if (!image)
        exit(3);
    ALL(pread(fd, image, size_bytes, 0), size_bytes);
    bool same = holds(image, size_bytes, seed);
    free(image);
    return same;
}

/* Two ends of a connection that takes a message of `size_bytes` without a reader. */
static TWIN_HELPER void connected(int type, size_t size_bytes, int ends[2])
{
    int room = (int)(2 * size_bytes);
    CHECK(socketpair(AF_UNIX, type, 0, ends));
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room));
}

#endif
