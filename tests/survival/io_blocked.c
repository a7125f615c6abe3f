// expect-exit: 0
//
// Threads wait in system calls for data that come, or go on coming, only after a buffer beside
// their own memory has gone in flight.
#include "in_flight.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

struct edge {
    char bytes[64];
    struct iovec piece;
    struct pollfd one;
    struct epoll_event event;
};

static struct edge *edge;
static int ends[2], set;

static long in_read(void)
{
    return read(ends[1], edge->bytes, sizeof edge->bytes);
}

static long in_readv(void)
{
    return readv(ends[1], &edge->piece, 1);
}

static long in_recv(void)
{
    return recv(ends[1], edge->bytes, sizeof edge->bytes, 0);
}

static long in_recv_all(void)
{
    return recv(ends[1], edge->bytes, 10, MSG_WAITALL);
}

static long in_fread(void)
{
    FILE *stream = fdopen(dup(ends[1]), "r");
    setvbuf(stream, NULL, _IONBF, 0);
    long got = (long)fread(edge->bytes, 1, 10, stream);
    if (ferror(stream))
        puts("the stream failed");
    fclose(stream);
    return got;
}

static long in_poll(void)
{
    return poll(&edge->one, 1, 5000);
}

static long in_epoll(void)
{
    return epoll_wait(set, &edge->event, 1, 5000);
}

static void *block(void *call)
{
    long (*wait)(void) = *(long (**)(void))call;
    return (void *)wait();
}

static void send_five(const char *bytes)
{
    CHECK(write(ends[0], bytes, 5) - 5);
}

/* The sleep lets the thread get into its call; if it is late, the test is merely easier. */
static void show(const char *name, long (*call)(void), const char *first)
{
    pthread_t thread;
    void *result = NULL;
    char rest[8];
    memset(edge, 0, sizeof *edge);
    edge->piece = (struct iovec){edge->bytes, sizeof edge->bytes};
    edge->one = (struct pollfd){.fd = ends[1], .events = POLLIN};
    CHECK(pthread_create(&thread, NULL, block, &call));
    if (first)
        send_five(first);
    usleep(20000);
    hold();
    send_five("hello");
    pthread_join(thread, &result);
    release();
    printf("%s -> %ld %s\n", name, (long)result, edge->bytes);
    while (recv(ends[1], rest, sizeof rest, MSG_DONTWAIT) > 0)
        continue;
}

int main(void)
{
    struct epoll_event wanted = {.events = EPOLLIN};
    edge = (struct edge *)edge_start();
    set = epoll_create1(0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    CHECK(epoll_ctl(set, EPOLL_CTL_ADD, ends[1], &wanted));
    show("read", in_read, NULL);
    show("readv", in_readv, NULL);
    show("recv", in_recv, NULL);
    show("recv all", in_recv_all, "about");
    show("fread", in_fread, "about");
    show("poll", in_poll, NULL);
    show("epoll_wait", in_epoll, NULL);
    SHOW(edge->event.events == EPOLLIN);
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
    show("datagram", in_recv, NULL);
    return 0;
}
