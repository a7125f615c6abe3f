// expect-exit: 0
//
// Signals that interrupt system calls beside a buffer in flight, and whose handler makes some
// itself.
#include "in_flight.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

static int file, handled, failed;

static void on_alarm(int signal)
{
    int saved = errno;
    (void)signal;
    handled++;
    failed += pwrite(file, beside.block, 100, 0) != 100;
    failed += pread(file, beside.block + 200, 100, 0) != 100;
    errno = saved;
}

static void alarm_every(long us)
{
    struct itimerval timer = {{0, us}, {0, us}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL));
}

static void handle(int flags)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags};
    CHECK(sigaction(SIGALRM, &action, NULL));
}

static void storm(void)
{
    alarm_every(500);
    for (int i = 0; i < 50; i++) {
        hold();
        ssize_t wrote = pwrite(file, beside.block, 1000, 1000);
        ssize_t got = pread(file, beside.block, 1000, 1000);
        release();
        if (wrote != 1000 || got != 1000)
            printf("round %d: %zd %zd %d\n", i, wrote, got, errno);
    }
    alarm_every(0);
}

int main(void)
{
    int ends[2];
    edge_start();
    file = memfd_create("signals", 0);
    CHECK(pipe(ends));
    handle(0);
    hold();
    alarm_every(20000);
    ssize_t got = read(ends[0], beside.block, 100);
    int error = errno;
    alarm_every(0);
    release();
    printf("read -> %zd %s\n", got, strerrorname_np(error));
    handle(SA_RESTART);
    storm();
    SHOW(failed);
    SHOW(handled > 0);
    return 0;
}
