// expect-exit: 0
// link: cuda
//
// A handler ends the process with _exit while the thread is anywhere in a loop of copies: the
// interrupted thread may hold every lock that there is.
#include "survival.h"

#include <cuda.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { CHILDREN = 24, FIRST_US = 20000, STEP_US = 137, WAIT_MS = 10000, STATUS = 7 };

static void end(int signal_number)
{
    (void)signal_number;
    _exit(STATUS);
}

static void copy_until_alarm(long after_us)
{
    const struct itimerval timer = {{0, 0}, {0, after_us}};
    CUcontext context = NULL;
    CUdeviceptr device = 0;
    CUstream stream = NULL;
    void *host = NULL;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&device, 4096));
    CHECK(cuMemHostAlloc(&host, 4096, 0));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    signal(SIGALRM, end);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (;;) {
        cuMemcpyHtoDAsync(device, host, 4096, stream);
        cuStreamQuery(stream);
    }
}

static bool ends_as_it_should(pid_t child)
{
    int status = 0;
    for (int waited_ms = 0; waited_ms < WAIT_MS; waited_ms++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) && WEXITSTATUS(status) == STATUS;
        usleep(1000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return false;
}

int main(void)
{
    int right = 0;
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0)
            copy_until_alarm(FIRST_US + (long)i * STEP_US);
        right += ends_as_it_should(child);
    }
    SHOW(right);
    return 0;
}
