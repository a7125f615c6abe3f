/* Futexes beside a buffer: each system call on one is made with a copy into the buffer in flight.
 *
 * A thread that is about to sleep or to wake others has touched the object just before, and by that
 * had its page let go. So the kernel is told to stop every futex call on the page, and before the
 * call goes on, another copy is issued from the signal handler.
 */
#ifndef SC_TESTS_SURVIVAL_FUTEX_TRAP_H
#define SC_TESTS_SURVIVAL_FUTEX_TRAP_H

#include "survival.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include "common/kernel.h"

enum { EDGE = 2048, IN_FLIGHT = 64 << 10, BLOCK = EDGE + IN_FLIGHT + EDGE, PAGE = 4096 };

/* EDGE bytes for the objects, then the buffer. */
static struct {
    unsigned char *block;
    void *device;
    cudaStream_t stream;
    atomic_int stops;
    atomic_bool armed, held;
} trap;

/* In the upper half of `operation`, which is an int, the kernel finds no meaning, but the filter.
 */
#define GOES_ON (1L << 32)

static void stay_held(void *unused)
{
    (void)unused;
    for (int i = 0; i < 5000 && atomic_load(&trap.held); i++)
        usleep(1000);
}

static SURVIVAL_HELPER void trap_copy(void)
{
    CHECK(cudaMemcpyAsync(trap.block + EDGE, trap.device, IN_FLIGHT, cudaMemcpyDeviceToHost,
                          trap.stream));
}

#if defined(__x86_64__)
#define ARGUMENT(context, i)                                                                       \
    ((context)->uc_mcontext.gregs[(                                                                \
        (const int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9})[i]])
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
#else
#define ARGUMENT(context, i) ((long)(context)->uc_mcontext.regs[i])
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#endif

static void on_stop(int number, siginfo_t *info, void *context)
{
    ucontext_t *at = (ucontext_t *)context;
    int saved = errno;
    (void)number;
    if (atomic_load(&trap.armed))
        trap_copy();
    atomic_fetch_add(&trap.stops, 1);
    RESULT(at) =
        sc_kernel_call6(info->si_syscall, ARGUMENT(at, 0), ARGUMENT(at, 1) | GOES_ON,
                        ARGUMENT(at, 2), ARGUMENT(at, 3), ARGUMENT(at, 4), ARGUMENT(at, 5));
    errno = saved;
}

#define WORD(i, half) ((unsigned)(offsetof(struct seccomp_data, args) + 8 * (i) + 4 * (half)))
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define GO_ON_UNLESS(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(value), 1, 0), GO_ON
#define GO_ON BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void stop_futex_calls(uintptr_t page)
{
    struct sock_filter filter[] = {
        LOAD(offsetof(struct seccomp_data, nr)),
        GO_ON_UNLESS(SYS_futex),
        LOAD(WORD(1, 1)),
        GO_ON_UNLESS(0),
        LOAD(WORD(0, 1)),
        GO_ON_UNLESS(page >> 32),
        LOAD(WORD(0, 0)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~(unsigned)(PAGE - 1)),
        GO_ON_UNLESS(page & UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_stop;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    CHECK(sigaction(SIGSYS, &action, NULL));
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0));
}

/* In every thread that is made from now on. */
static SURVIVAL_HELPER void trap_start(void *block)
{
    trap.block = (unsigned char *)block;
    memset(trap.block, 0, BLOCK);
    CHECK(cudaMalloc(&trap.device, IN_FLIGHT));
    CHECK(cudaMemset(trap.device, 0x5a, IN_FLIGHT));
    CHECK(cudaStreamCreateWithFlags(&trap.stream, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    stop_futex_calls((uintptr_t)trap.block);
}

/* Nothing of before is known of the memory. */
static SURVIVAL_HELPER void trap_arm(void)
{
    CHECK(cudaHostRegister(trap.block, BLOCK, cudaHostRegisterDefault));
    atomic_store(&trap.held, true);
    CHECK(cudaLaunchHostFunc(trap.stream, stay_held, NULL));
    atomic_store(&trap.stops, 0);
    atomic_store(&trap.armed, true);
}

static SURVIVAL_HELPER void trap_disarm(void)
{
    atomic_store(&trap.armed, false);
    atomic_store(&trap.held, false);
    CHECK(cudaStreamSynchronize(trap.stream));
    CHECK(cudaHostUnregister(trap.block));
}

/* The call of another thread was stopped, and is let sleep; if it is late, the test is easier. */
static SURVIVAL_HELPER void trap_await_stop(void)
{
    while (atomic_load(&trap.stops) == 0)
        usleep(1000);
    usleep(20000);
}

#endif
