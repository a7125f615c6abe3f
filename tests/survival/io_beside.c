// expect-exit: 0
//
// System calls on memory that shares its page with a buffer in flight: bytes, arrays of pieces,
// headers, addresses and times all lie there.
#include "in_flight.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>

struct edge {
    char bytes[256];
    struct iovec pieces[2];
    struct pollfd one;
    struct epoll_event events[2];
    fd_set set;
    struct timeval soon;
    struct timespec at_once;
    sigset_t mask;
};

static void files(struct edge *edge, int fd)
{
    memset(edge->bytes, 'e', sizeof edge->bytes);
    edge->pieces[0] = (struct iovec){edge->bytes, 10};
    edge->pieces[1] = (struct iovec){edge->bytes + 20, 30};
    SHOW_BESIDE(write(fd, edge->bytes, 200));
    SHOW_BESIDE(pwrite(fd, edge->bytes, 5, 200));
    SHOW_BESIDE(writev(fd, edge->pieces, 2));
    SHOW_BESIDE(pwritev(fd, edge->pieces, 2, 300));
    SHOW_BESIDE(pwritev2(fd, edge->pieces, 2, 300, 0));
    SHOW(lseek(fd, 0, SEEK_SET));
    SHOW_BESIDE(read(fd, edge->bytes, sizeof edge->bytes));
    SHOW_BESIDE(pread(fd, edge->bytes, 5, 2));
    SHOW_BESIDE(readv(fd, edge->pieces, 2));
    SHOW_BESIDE(preadv(fd, edge->pieces, 2, 0));
    SHOW_BESIDE(preadv2(fd, edge->pieces, 2, 1000, 0));
    SHOW(edge->bytes[0] == 'e');
}

static void waits(struct edge *edge, int fd)
{
    int set = epoll_create1(0);
    struct epoll_event wanted = {.events = EPOLLOUT, .data.u32 = 7};
    CHECK(epoll_ctl(set, EPOLL_CTL_ADD, fd, &wanted));
    edge->one = (struct pollfd){.fd = fd, .events = POLLOUT};
    FD_ZERO(&edge->set);
    FD_SET(fd, &edge->set);
    edge->soon = (struct timeval){0, 1000};
    SHOW_BESIDE(poll(&edge->one, 1, 0));
    SHOW_BESIDE(epoll_wait(set, edge->events, 2, 0));
    SHOW_BESIDE(select(fd + 1, NULL, &edge->set, NULL, &edge->soon));
    edge->at_once = (struct timespec){0, 0};
    sigfillset(&edge->mask);
    SHOW_BESIDE(ppoll(&edge->one, 1, &edge->at_once, &edge->mask));
    SHOW_BESIDE(epoll_pwait(set, edge->events, 2, 0, &edge->mask));
    SHOW_BESIDE(pselect(fd + 1, NULL, &edge->set, NULL, &edge->at_once, &edge->mask));
    SHOW(edge->one.revents == POLLOUT && edge->events[0].data.u32 == 7);
    close(set);
}

int main(void)
{
    struct edge *edge = edge_start();
    int ends[2];
    files(edge, memfd_create("beside", 0));
    CHECK(pipe(ends));
    waits(edge, ends[1]);
    SHOW_BESIDE(vmsplice(ends[1], edge->pieces, 2, 0));
    SHOW_BESIDE(vmsplice(ends[0], edge->pieces, 1, 0));
    SHOW_BESIDE(getrandom(edge->bytes, 100, 0));
    SHOW_BESIDE(getentropy(edge->bytes, 100));
    SHOW_BESIDE(process_vm_readv(getpid(), edge->pieces, 1, &(struct iovec){ends, 4}, 1, 0));
    return 0;
}
