// expect-exit: 0
// timeout: 120
//
// A handler finds the frame as the program left it, and may do with it what it likes, also where it
// interrupts reads beside results that are still to come. Another thread sends all the time.
#include "signals.h"

#include <sys/wait.h>

enum {
    BLOCKS = 4 << 20,
    PAGES = 16,
    RESULT = 2048,
    ROUNDS = 6,
    READS = 24,
    CHILDREN = 40,
    IS_CHILD = 7
};

static unsigned char *pages; /* in each a result of RESULT bytes, and ones behind it */
static _Atomic bool stops, reads;
static _Atomic int sent, come;
static volatile sig_atomic_t times, stepped, in_child;

/* ---- reads ---- */

static void issue(void)
{
    hold_stream(beside.stream);
    for (int i = 0; i < PAGES; i++)
        CHECK(cudaMemcpyAsync(pages + i * PAGE, beside.device, RESULT, cudaMemcpyDeviceToHost,
                              beside.stream));
}

static int sum(void)
{
    int result = 0;
    for (int i = 0; i < PAGES; i++)
        result += *(volatile unsigned char *)(pages + i * PAGE + RESULT + 99);
    return result;
}

/* Of memory with a past fewer pages are guarded. */
static int read_beside(void)
{
    int wrong = 0;
    CHECK(cudaMallocHost((void **)&pages, BLOCKS));
    memset(pages, 1, PAGES * PAGE);
    issue();
    atomic_store(&reads, true);
    for (int i = 0; i < READS && !in_child; i++)
        wrong += sum() != PAGES;
    atomic_store(&reads, false);
    if (in_child)
        _exit(wrong ? 1 : IS_CHILD);
    let_go();
    CHECK(cudaStreamSynchronize(beside.stream));
    for (int i = 0; i < PAGES; i++)
        wrong += pages[i * PAGE] != 0x5a;
    CHECK(cudaFreeHost(pages));
    return wrong;
}

/* ---- signals ---- */

static int number_sent = SIGUSR1;

static void *send(void *to)
{
    while (!atomic_load(&stops)) {
        if (!atomic_load(&reads) || atomic_load(&sent) != atomic_load(&come))
            continue;
        atomic_fetch_add(&sent, 1);
        pthread_kill(*(pthread_t *)to, number_sent);
    }
    return NULL;
}

static void (*act)(ucontext_t *context);

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (atomic_load(&reads) && !in_child) {
        times++;
        act(context);
    }
    atomic_fetch_add(&come, 1);
}

static void interrupt_reads(const char *name, void (*what)(ucontext_t *context))
{
    pthread_t sender, reader = pthread_self();
    int wrong = 0;
    act = what;
    times = 0;
    atomic_store(&stops, false);
    handle_info(number_sent, on_signal, SA_RESTART, only(0));
    CHECK(pthread_create(&sender, NULL, send, &reader));
    for (int i = 0; i < ROUNDS; i++)
        wrong += read_beside();
    atomic_store(&stops, true);
    pthread_join(sender, NULL);
    printf("%s: %d wrong\n", name, wrong);
}

/* ---- what handlers do ---- */

static void look_for_flag(ucontext_t *context)
{
    (void)context;
#if defined(__x86_64__)
    stepped += (context->uc_mcontext.gregs[REG_EFL] & 0x100) != 0;
#endif
}

static void block(ucontext_t *context)
{
    put_mask(context, only(times & 1 ? SIGTRAP : 0));
}

static void set_action(ucontext_t *context)
{
    (void)context;
    signal(SIGTRAP, times & 1 ? SIG_IGN : SIG_DFL);
}

static pid_t children[CHILDREN];

static void make_child(ucontext_t *context)
{
    (void)context;
    if (times > CHILDREN)
        return;
    pid_t child = fork();
    if (child == 0)
        in_child = 1;
    else
        children[times - 1] = child;
}

static void wait_for_children(void)
{
    int wrong = 0;
    for (int i = 0; i < CHILDREN && children[i]; i++) {
        int status = 0;
        waitpid(children[i], &status, 0);
        wrong += !WIFEXITED(status) || WEXITSTATUS(status) != IS_CHILD;
    }
    printf("%d children ended in another way\n", wrong);
}

/* A scheduler has the thread call a function when it goes on. */
#if defined(__x86_64__)
static volatile long calls __attribute__((used));
extern void called(void);

__asm__(".text\n"
        "called:\n"
        "	pushfq\n"
        "	lock incq calls(%rip)\n"
        "	popfq\n"
        "	ret $128\n");

static void have_it_call(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    greg_t *stack = (greg_t *)(registers[REG_RSP] - 128);
    *--stack = registers[REG_RIP];
    registers[REG_RSP] = (greg_t)stack;
    registers[REG_RIP] = (greg_t)called;
}
#endif

/* ---- faults of the instruction that reads ---- */

#if defined(__x86_64__)
static unsigned char *closed;

static void show_fault(int number, siginfo_t *info, void *context)
{
    ucontext_t *frame = (ucontext_t *)context;
    (void)info;
    printf("%s: frame with mask %lx, trap flag %d\n", number == SIGFPE ? "SIGFPE" : "SIGSEGV",
           bits_of(&frame->uc_sigmask), (frame->uc_mcontext.gregs[REG_EFL] & 0x100) != 0);
    show_mask("in the handler");
    mprotect(closed, PAGE, PROT_READ | PROT_WRITE);
    ((unsigned *)beside.block)[0] = 1;
}

static void fault_while_reading(void)
{
    closed = (unsigned char *)mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    handle_info(SIGSEGV, show_fault, 0, only(SIGUSR2));
    handle_info(SIGFPE, show_fault, 0, only(SIGUSR2));
    set_mask(only(SIGHUP));
    hold();
    const unsigned char *from = beside.block + 8;
    unsigned char *to = closed;
    __asm__ volatile("movsb" : "+S"(from), "+D"(to) : : "memory");
    release();
    ((unsigned *)beside.block)[0] = 0;
    hold();
    unsigned low = 7, high = 0;
    __asm__ volatile("divl %2"
                     : "+a"(low), "+d"(high)
                     : "m"(*(unsigned *)beside.block)
                     : "cc", "memory");
    release();
    printf("divided: %u\n", low);
    show_mask("behind the faults");
}
#endif

/* It is not really blocked, and the thread must not learn of the mask that it has meanwhile. */
static void read_with_fault_blocked(void)
{
    sigset_t pending;
    set_mask(only(SIGSEGV));
    printf("with SIGSEGV blocked: %d wrong\n", read_beside());
    show_mask("behind");
    raise(SIGSEGV);
    CHECK(sigpending(&pending));
    printf("pending: %lx\n", bits_of(&pending));
    signal(SIGSEGV, SIG_IGN);
    set_mask(only(0));
}

int main(void)
{
    edge_start();
    interrupt_reads("looks", look_for_flag);
    number_sent = SIGBUS;
    interrupt_reads("looks at one of faults", look_for_flag);
    number_sent = SIGSEGV;
    interrupt_reads("looks at the one of our own", look_for_flag);
    number_sent = SIGUSR1;
    printf("%d frames with the trap flag\n", (int)stepped);
    interrupt_reads("blocks SIGTRAP", block);
    set_mask(only(0));
    interrupt_reads("sets its action", set_action);
    signal(SIGTRAP, SIG_DFL);
    interrupt_reads("forks", make_child);
    wait_for_children();
#if defined(__x86_64__)
    interrupt_reads("has it call", have_it_call);
    fault_while_reading();
#endif
    read_with_fault_blocked();
    show_mask("in the end");
    return 0;
}
