// expect-exit: 0
// timeout: 60
//
// Signals that come while a touch waits for a copy, which ends only with the process: they are
// taken at once, and nobody says that the touch had waited too long. And a handler that makes such
// a touch itself, again and again, wherever it interrupts calls on streams. (The touches are
// mistakes, made in processes of their own; no byte of theirs counts.)
#include "in_flight.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { FOREVER_S = 1000, TEXT_BYTES = 4096, ROUNDS = 300 };

static volatile unsigned char *touched;

static void hold_forever(void *unused)
{
    (void)unused;
    sleep(FOREVER_S);
}

static void *touch(void *unused)
{
    (void)unused;
    (void)*touched;
    for (;;)
        pause();
    return NULL;
}

static void leave(int number)
{
    (void)number;
    exit(7);
}

static void leave_at_once(int number)
{
    (void)number;
    _exit(7);
}

static void leave_quickly(int number)
{
    (void)number;
    quick_exit(7);
}

static void *terminate(void *main_thread)
{
    usleep(100000);
    pthread_kill(*(pthread_t *)main_thread, SIGTERM);
    return NULL;
}

static void keep_in_flight(void)
{
    unsigned char *block = edge_start();
    touched = block + EDGE + IN_FLIGHT / 2;
    CHECK(cudaLaunchHostFunc(beside.stream, hold_forever, NULL));
    CHECK(cudaMemcpyAsync(block + EDGE, beside.device, IN_FLIGHT, cudaMemcpyDeviceToHost,
                          beside.stream));
}

static void be_terminated(void (*handler)(int))
{
    pthread_t main_thread = pthread_self();
    pthread_t killer;
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    keep_in_flight();
    signal(SIGTERM, handler);
    CHECK(pthread_sigmask(SIG_BLOCK, &term, NULL));
    CHECK(pthread_create(&killer, NULL, terminate, &main_thread));
    CHECK(pthread_sigmask(SIG_UNBLOCK, &term, NULL));
    touch(NULL);
}

static void end_beside(void)
{
    pthread_t waiter;
    keep_in_flight();
    CHECK(pthread_create(&waiter, NULL, touch, NULL));
    usleep(100000);
    exit(7);
}

static void end_waiter(void)
{
    pthread_t waiter;
    keep_in_flight();
    CHECK(pthread_create(&waiter, NULL, touch, NULL));
    usleep(100000);
    pthread_kill(waiter, SIGINT);
    pthread_join(waiter, NULL);
}

/* Not a timer that repeats, which would leave the calls no time on a machine where a touch takes as
 * long. */
static void set_alarm(void)
{
    static const struct itimerval once = {.it_value = {0, 300}};
    CHECK(setitimer(ITIMER_REAL, &once, NULL));
}

static void touch_in_handler(int number)
{
    (void)number;
    (void)*touched;
    set_alarm();
}

static void touch_in_calls(void)
{
    struct sigaction action = {.sa_handler = touch_in_handler, .sa_flags = SA_RESTART};
    unsigned char *block = edge_start();
    touched = block + EDGE + IN_FLIGHT / 2;
    CHECK(sigaction(SIGALRM, &action, NULL));
    set_alarm();
    for (int i = 0; i < ROUNDS; i++) {
        cudaStream_t stream;
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        for (int copy = 0; copy < 8; copy++)
            CHECK(cudaMemcpyAsync(block + EDGE, beside.device, IN_FLIGHT, cudaMemcpyDeviceToHost,
                                  stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaStreamDestroy(stream));
    }
    _exit(7);
}

static void run(const char *which)
{
    switch (atoi(which)) {
    case 0:
        be_terminated(leave);
        break;
    case 1:
        be_terminated(leave_at_once);
        break;
    case 2:
        be_terminated(leave_quickly);
        break;
    case 3:
        end_beside();
        break;
    case 4:
        end_waiter();
        break;
    default:
        touch_in_calls();
    }
}

static void show(int which)
{
    static char said[TEXT_BYTES];
    size_t size = 0;
    int ends[2];
    int status = 0;
    CHECK(pipe(ends));
    pid_t child = fork();
    if (child == 0) {
        char number[8];
        snprintf(number, sizeof number, "%d", which);
        setenv("SAFECOPY_OPTIONS", "report_path=none:stall_limit=500s", 1);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", "touch_signalled", number, (char *)NULL);
        _exit(3);
    }
    close(ends[1]);
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    for (ssize_t got = 1; got > 0; size += got > 0 ? (size_t)got : 0) {
        if (poll(&end, 1, 20000) == 0)
            kill(child, SIGKILL);
        got = read(ends[0], said + size, TEXT_BYTES - 1 - size);
    }
    said[size] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    printf("%d: ended %x, gave up: %d\n", which, (unsigned)status & ~0x80U,
           strstr(said, "stall_limit") != NULL);
    fflush(stdout);
}

int main(int count, char **arguments)
{
    if (count > 1) {
        run(arguments[1]);
        return 0;
    }
    for (int which = 0; which < 6; which++)
        show(which);
    return 0;
}
