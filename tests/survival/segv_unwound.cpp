// expect-exit: 0
// cflags: -fnon-call-exceptions -rdynamic -fno-optimize-sibling-calls
//
// Handlers that throw out of the fault, as Java's and D's compilers have it, and that look at the
// stack below them: it leads through the fault to main, by the program's functions and no others.
#include "signals.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <stdexcept>
#include <string>

namespace
{

volatile char *nowhere;
void *main_program;

// On aarch64 a handler is called by the library's, whose frame is between it and the kernel's.
int libc_signals_among(void *const *frames, int count)
{
    int found = 0;
#ifndef __x86_64__
    Dl_info info;
    for (int i = 0; i < count; i++)
        if (dladdr(frames[i], &info) && strstr(info.dli_fname, "/libsafecopy.so"))
            found++;
#endif
    (void)frames;
    (void)count;
    return found;
}

void show_stack()
{
    void *frames[64];
    int count = backtrace(frames, 64);
    printf("stack of %d:", count - libc_signals_among(frames, count));
    for (int i = 0; i < count; i++) {
        Dl_info info;
        if (dladdr(frames[i], &info) && info.dli_fbase == main_program)
            printf(" %s", info.dli_sname ? info.dli_sname : "-");
    }
    puts("");
}

struct guarded_by_destructor {
    ~guarded_by_destructor()
    {
        puts("destructor");
    }
};

} // namespace

extern "C" {
void throw_it(int number);
void look(int number, siginfo_t *info, void *context);
void fault_deeply(int depth);
void raise_deeply(int depth);

void throw_it(int number)
{
    sigset_t fault = only(number);
    show_stack();
    CHECK(pthread_sigmask(SIG_UNBLOCK, &fault, NULL));
    throw std::runtime_error("fault");
}

void look(int number, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    printf("handler of %d\n", number);
    show_stack();
    if (number == SIGSEGV)
        mprotect((void *)(uintptr_t)nowhere, PAGE, PROT_READ | PROT_WRITE);
}

__attribute__((noinline)) void fault_deeply(int depth)
{
    guarded_by_destructor here;
    if (depth)
        fault_deeply(depth - 1);
    else
        *nowhere = 1;
    printf("back at depth %d\n", depth);
}

__attribute__((noinline)) void raise_deeply(int depth)
{
    if (depth)
        raise_deeply(depth - 1);
    else
        raise(SIGUSR1);
    fflush(stdout);
}
}

static void catch_it(const char *who)
{
    for (int i = 0; i < 3; i++) {
        try {
            fault_deeply(2);
        } catch (const std::exception &error) {
            printf("%s: caught %s, mask %lx\n", who, error.what(), mask_now());
        }
    }
    if (beside.block)
        touch_beside(who);
}

static void all(const char *who)
{
    handle(SIGSEGV, throw_it, 0, only(0));
    catch_it(who);
    handle(SIGSEGV, throw_it, SA_ONSTACK, only(SIGUSR2));
    catch_it(who);
    set_mask(only(0));
    handle_info(SIGSEGV, look, 0, only(0));
    handle_info(SIGUSR1, look, 0, only(SIGSEGV));
    fault_deeply(3);
    raise_deeply(3);
    CHECK(mprotect((void *)(uintptr_t)nowhere, PAGE, PROT_NONE));
}

int main()
{
    Dl_info self;
    static char room[64 << 10];
    stack_t stack = {};
    stack.ss_sp = room;
    stack.ss_size = sizeof room;
    CHECK(dladdr((void *)(uintptr_t)look, &self) == 0);
    main_program = self.dli_fbase;
    nowhere = no_page();
    all("without CUDA");
    edge_start();
    CHECK(sigaltstack(&stack, NULL));
    touch_beside("guarded");
    all("guarded");
    return 0;
}
