// expect-exit: 0
//
// Calls that never come back, each of a thread that is cancelled in it, and then one that does: the
// page that it works on is not taken away under it.
#include "in_flight.h"

#include <pthread.h>
#include <sys/socket.h>

enum { LEFT = 700 }; /* more than the library can remember (interpose/guard/loans.c) */

static int silent[2], talking[2];
static void *elsewhere;

static void *read_for_ever(void *unused)
{
    (void)unused;
    return (void *)(long)read(silent[1], elsewhere, 100);
}

static void *receive(void *unused)
{
    (void)unused;
    return (void *)(long)recv(talking[1], beside.block, 100, 0);
}

static int leave_one(void)
{
    pthread_t thread;
    void *result = NULL;
    CHECK(pthread_create(&thread, NULL, read_for_ever, NULL));
    CHECK(pthread_cancel(thread));
    CHECK(pthread_join(thread, &result));
    return result == PTHREAD_CANCELED;
}

int main(void)
{
    pthread_t thread;
    void *result = NULL;
    int left = 0;
    edge_start();
    CHECK(cudaMallocHost(&elsewhere, 4096));
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, silent));
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, talking));
    for (int i = 0; i < LEFT; i++)
        left += leave_one();
    SHOW(left == LEFT);

    CHECK(pthread_create(&thread, NULL, receive, NULL));
    usleep(20000);
    hold();
    CHECK(send(talking[0], "datagram", 9, 0) - 9);
    CHECK(pthread_join(thread, &result));
    release();
    SHOW((long)result);
    SHOW(strcmp((char *)beside.block, "datagram"));
    return 0;
}
