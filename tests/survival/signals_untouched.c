// expect-exit: 0
// needs: kernel (raw system calls)
//
// Before a page is guarded the kernel has what the program has told it of SIGSEGV: its own handler
// and the mask of each call. So a process is that never uses CUDA, and one that uses it without a
// copy that could be touched.
#include "raw_mask.h"

static void handler(int number)
{
    (void)number;
}

static void show_kernel(const char *when)
{
    struct {
        void (*handler)(int);
        unsigned long flags;
        void *restorer;
        unsigned long mask;
    } kernels = {0};
    sigset_t fault = only(SIGSEGV), all = every(), before;
    handle(SIGSEGV, handler, SA_NODEFER, only(SIGUSR1));
    raw_call(SYS_rt_sigaction, SIGSEGV, 0, (long)&kernels, 8);
    printf("%s: own handler %d, flags %lx, mask %lx\n", when, kernels.handler == handler,
           kernels.flags & ~0x04000000UL, kernels.mask);
    CHECK(pthread_sigmask(SIG_BLOCK, &fault, &before));
    printf("%s: SIGSEGV blocked: %lx\n", when, raw_mask());
    CHECK(pthread_sigmask(SIG_SETMASK, &all, NULL));
    printf("%s: all blocked: %lx\n", when, raw_mask());
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL));
    printf("%s: as before: %lx\n", when, raw_mask());
    signal(SIGSEGV, SIG_DFL);
    raw_call(SYS_rt_sigaction, SIGSEGV, 0, (long)&kernels, 8);
    printf("%s: by default %d\n", when, kernels.handler == SIG_DFL);
}

static void *in_thread(void *unused)
{
    (void)unused;
    show_kernel("in a thread");
    return NULL;
}

int main(void)
{
    pthread_t thread;
    sigset_t all = every(), before;
    void *device = NULL;
    show_kernel("without CUDA");
    CHECK(cudaMalloc(&device, PAGE));
    CHECK(cudaMemset(device, 1, PAGE));
    show_kernel("with CUDA");
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before));
    CHECK(pthread_create(&thread, NULL, in_thread, NULL));
    CHECK(pthread_join(thread, NULL));
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL));
    CHECK(cudaFree(device));
    return 0;
}
