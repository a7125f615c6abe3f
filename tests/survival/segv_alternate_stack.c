// expect-exit: 0
//
// A stack overflow caught on an alternate stack, after CUDA was used: the handler of a language
// runtime. It must run there, and its longjmp must leave everything usable.
#include "survival.h"

#include <setjmp.h>
#include <signal.h>

static sigjmp_buf back;
static char alternate[64 << 10];
static volatile int on_alternate;

static void recover(int number)
{
    char here;
    (void)number;
    on_alternate = &here >= alternate && &here < alternate + sizeof alternate;
    siglongjmp(back, 1);
}

static __attribute__((noinline)) int sink(volatile char *deeper)
{
    volatile char frame[4096];
    frame[0] = *deeper;
    if (frame[0] != 0)
        return 1; /* never: it only keeps the compiler from seeing where this leads */
    return sink(frame) + frame[0];
}

int main(void)
{
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction action = {.sa_handler = recover, .sa_flags = SA_ONSTACK};
    volatile char top = 0;
    use_cuda("before");
    SHOW(sigaltstack(&stack, NULL));
    SHOW(sigaction(SIGSEGV, &action, NULL));
    if (sigsetjmp(back, 1) == 0)
        SHOW(sink(&top));
    else
        printf("overflow caught, on the alternate stack: %d\n", on_alternate);
    use_cuda("after");
    return 0;
}
