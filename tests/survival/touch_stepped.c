// expect-exit: 0
// needs: kernel (ptrace)
// timeout: 120
//
// A signal handler that touches the target of a copy wherever it interrupts another copy's call:
// behind each instruction with a lock prefix, in a call for each. (From the moment at which a mutex
// is taken to the note of its owner it is a few instructions, so another process steps the thread.
// The touches are mistakes; no byte of theirs counts.)
#include "in_flight.h"

#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#ifdef __x86_64__

enum { COPIES = 4, CALLS_MAX = 1000, LOCK_PREFIX = 0xf0, BEGINS = SIGUSR1, ENDS = SIGUSR2 };

static volatile unsigned char *touched;

static void touch(int number)
{
    if (number == SIGALRM)
        (void)*touched;
}

/* ---- the one that is stepped ---- */

static void copy(cudaStream_t stream)
{
    void *target = (void *)(uintptr_t)touched;
    CHECK(cudaMemcpyAsync(target, beside.device, IN_FLIGHT, cudaMemcpyDeviceToHost, stream));
}

/* The last copy of each stream is stepped. */
static void copy_for_ever(void)
{
    for (;;) {
        cudaStream_t stream;
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        for (int i = 1; i < COPIES; i++)
            copy(stream);
        raise(BEGINS);
        copy(stream);
        raise(ENDS);
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaStreamDestroy(stream));
    }
}

static int be_stepped(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return 3;
    raise(SIGSTOP);
    touched = (unsigned char *)edge_start() + EDGE;
    signal(SIGALRM, touch);
    signal(BEGINS, touch);
    signal(ENDS, touch);
    copy_for_ever();
    return 0;
}

/* ---- the one that steps ---- */

/* Goes on until the process stops by BEGINS or by ENDS; other signals it gets. 0: it has ended. */
static int go_on(pid_t pid, int request, int until)
{
    int number = 0;
    int status;
    do {
        if (ptrace(request, pid, NULL, (void *)(long)number) != 0 ||
            waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
            return 0;
        number = WSTOPSIG(status) == ENDS && until == BEGINS ? 0 : WSTOPSIG(status);
    } while (number != until && number != ENDS);
    return number;
}

static bool is_at_locked_instruction(pid_t pid)
{
    struct user_regs_struct registers;
    struct iovec piece = {&registers, sizeof registers};
    return ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &piece) == 0 &&
           (ptrace(PTRACE_PEEKTEXT, pid, (void *)registers.rip, NULL) & 0xff) == LOCK_PREFIX;
}

/* Steps past `count` locked instructions of the call. Returns SIGTRAP, ENDS where the call has
 * fewer, or 0. */
static int step_past(pid_t pid, int count)
{
    int stop = SIGTRAP;
    while (count > 0 && stop == SIGTRAP) {
        count -= is_at_locked_instruction(pid);
        stop = go_on(pid, PTRACE_SINGLESTEP, SIGTRAP);
    }
    return stop;
}

/* Has the handler touch behind each locked instruction. Returns how many a call has; 0: the process
 * has ended. */
static int touch_behind_each(pid_t pid)
{
    for (int count = 1; count < CALLS_MAX; count++) {
        if (go_on(pid, PTRACE_CONT, BEGINS) != BEGINS)
            return 0;
        int stop = step_past(pid, count);
        if (stop != SIGTRAP)
            return stop == ENDS ? count - 1 : 0;
        CHECK((int)syscall(SYS_tgkill, pid, pid, SIGALRM));
    }
    return 0;
}

int main(void)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        return be_stepped();
    int count = waitpid(pid, &status, 0) == pid ? touch_behind_each(pid) : 0;
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) == pid && !WIFSIGNALED(status) && !WIFEXITED(status))
        ;
    puts(count > 0 ? "each call has returned" : "a call has not returned");
    return 0;
}

#else

int main(void)
{
    puts("each call has returned");
    return 0;
}

#endif
