// timeout: 120
/* Random sequences of signal calls, with the library and without: what a program sees of its
 * signals is the same, whatever it does, with copies in flight beside its memory and touches of it.
 *
 *   LD_LIBRARY_PATH=out/sim LD_PRELOAD=out/libsafecopy.so out/tests/fuzz/random_signals [N [SEED]]
 *   ... random_signals run SEED COUNT     what it starts, preloaded and plainly: prints what it
 * sees
 *
 * Each of N programs starts the process that it runs in, and does STEPS random things. Where the
 * two transcripts differ the first lines that do are shown.
 */
#include "tests/survival/signals.h"

#include <poll.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <time.h>

enum {
    STEPS = 400,
    TEXT_BYTES = 1 << 20,
    NUMBERS = 6,
    NESTED_MAX = 2,
    CONTEXT_BYTES = 128 << 10,
    LIMIT_MS = 120000
};

static uint64_t state;
static volatile int nested;
static volatile char *nowhere;
static const int numbers[NUMBERS] = {SIGSEGV, SIGSEGV, SIGSEGV, SIGUSR1, SIGUSR2, SIGBUS};

static unsigned below(unsigned limit)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(state >> 33) % limit;
}

static int some_number(void)
{
    return numbers[below(NUMBERS)];
}

/* Of the signals that the programs use. */
static sigset_t some_set(void)
{
    sigset_t set;
    sigemptyset(&set);
    if (below(8) == 0)
        sigfillset(&set);
    for (unsigned i = 0; i < 2; i++)
        if (below(3))
            sigaddset(&set, some_number());
    if (below(2))
        sigdelset(&set, SIGSEGV);
    return set;
}

/* At once, since the process may be about to die. */
static __attribute__((format(printf, 1, 2))) void say(const char *format, ...)
{
    char line[512];
    va_list values;
    va_start(values, format);
    int size = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    if (write(1, line, (size_t)size) != size)
        _exit(3);
}

/* ---- where a fault is recovered from ---- */

static struct point {
    sigjmp_buf environment;
    volatile bool is_set;
    volatile int nested;
} points[8];
static volatile unsigned depth;
static volatile bool in_context;

static void say_mask(const char *what)
{
    say("  %s: mask %lx\n", what, mask_now());
}

/* ---- handlers ---- */

static void step(void);

static void act_in_handler(int number, siginfo_t *info, ucontext_t *context)
{
    say("  handler of %d", number);
    if (info)
        say(" code %d value %d interrupted %lx", info->si_code,
            info->si_code == SI_QUEUE ? info->si_value.sival_int : 0,
            bits_of(&context->uc_sigmask));
    say_mask("");
    /* KNOWN: what such a handler says is lost where it interrupts swapcontext. */
    if (context && !in_context && below(6) == 0) {
        put_mask(context, some_set());
        say("  returns to %lx\n", bits_of(&context->uc_sigmask));
    }
    if (nested < NESTED_MAX && below(3) == 0) {
        nested++;
        step();
        nested--;
    }
}

static bool has_left_mask;

/* Out of a fault every way leads back to where it was expected. */
static void leave(void)
{
    if (depth == 0 || !points[depth - 1].is_set)
        _exit(9);
    has_left_mask |= !points[depth - 1].environment[0].__mask_was_saved;
    say_mask("leaves");
    siglongjmp(points[depth - 1].environment, 1);
}

static void plain_handler(int number)
{
    act_in_handler(number, NULL, NULL);
    if (number == SIGSEGV && depth && below(2))
        leave();
}

static void info_handler_of(int number, siginfo_t *info, void *context)
{
    act_in_handler(number, info, context);
    if (info->si_code > 0)
        leave();
}

static void (*some_handler(void))(int)
{
    switch (below(6)) {
    case 0:
        return SIG_IGN;
    case 1:
        return SIG_DFL;
    case 2:
    case 3:
        return plain_handler;
    default:
        return (void (*)(int))(uintptr_t)info_handler_of;
    }
}

static const char *name_of(void (*handler)(int))
{
    return handler == SIG_DFL                                     ? "default"
           : handler == SIG_IGN                                   ? "ignored"
           : handler == SIG_HOLD                                  ? "held"
           : handler == SIG_ERR                                   ? "error"
           : handler == plain_handler                             ? "plain"
           : handler == (void (*)(int))(uintptr_t)info_handler_of ? "info"
                                                                  : "unknown";
}

static void say_action(const struct sigaction *action)
{
    say("  %s flags %x mask %lx\n", name_of(action->sa_handler), (unsigned)action->sa_flags,
        bits_of(&action->sa_mask));
}

/* ---- steps ---- */

static void set_action(void)
{
    static const unsigned flags[] = {SA_RESTART, SA_ONSTACK, SA_NODEFER, SA_RESETHAND};
    struct sigaction action, former;
    int number = some_number();
    memset(&action, 0, sizeof action);
    action.sa_handler = some_handler();
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (below(4) == 0)
            action.sa_flags |= (int)flags[i];
    if (action.sa_handler == (void (*)(int))(uintptr_t)info_handler_of)
        action.sa_flags |= SA_SIGINFO;
    action.sa_mask = some_set();
    /* KNOWN: of several signals that come at once, the one that interrupts the first instruction of
     * a handler whose mask has SIGSEGV does not see it blocked. The last of them is SIGUSR2. */
    if (number != SIGSEGV && number != SIGUSR2)
        sigdelset(&action.sa_mask, SIGSEGV);
    say("sigaction %d %s %x\n", number, name_of(action.sa_handler), (unsigned)action.sa_flags);
    CHECK(sigaction(number, &action, &former));
    say_action(&former);
}

static void read_action(void)
{
    struct sigaction found;
    int number = some_number();
    say("read %d\n", number);
    CHECK(sigaction(number, NULL, &found));
    say_action(&found);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
extern void (*sysv_signal(int number, void (*handler)(int)))(int);

static void set_old(void)
{
    int number = some_number();
    void (*handlers[])(int) = {SIG_IGN, SIG_DFL, plain_handler, plain_handler};
    void (*handler)(int) = handlers[below(4)];
    const char *name = name_of(handler);
    switch (below(6)) {
    case 0:
        say("signal %d %s: %s\n", number, name, name_of(signal(number, handler)));
        break;
    case 1:
        say("sysv_signal %d %s: %s\n", number, name, name_of(sysv_signal(number, handler)));
        break;
    case 2:
        say("sigset %d %s: %s\n", number, name, name_of(sigset(number, handler)));
        break;
    case 3:
        say("sigset %d held: %s\n", number, name_of(sigset(number, SIG_HOLD)));
        break;
    case 4:
        say("sigignore %d: %d\n", number, sigignore(number));
        break;
    default:
        say("siginterrupt %d: %d\n", number, siginterrupt(number, (int)below(2)));
    }
}

static void change_mask(void)
{
    static const int ways[] = {SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK};
    sigset_t set = some_set();
    sigset_t old;
    int way = ways[below(3)];
    int number = some_number();
    switch (below(6)) {
    case 0:
    case 1:
        say("sigprocmask %d %lx\n", way, bits_of(&set));
        CHECK(sigprocmask(way, &set, &old));
        say("  was %lx\n", bits_of(&old));
        break;
    case 2:
        say("pthread_sigmask %d %lx\n", way, bits_of(&set));
        CHECK(pthread_sigmask(way, &set, &old));
        say("  was %lx\n", bits_of(&old));
        break;
    case 3:
        say("sighold %d\n", number);
        CHECK(sighold(number));
        break;
    case 4:
        say("sigrelse %d\n", number);
        CHECK(sigrelse(number));
        break;
    default:
        say("sigsetmask, was %x\n", (unsigned)sigsetmask((int)bits_of(&set) & 0x7fffffff));
    }
    say_mask("then");
}

static bool is_survived(int number)
{
    struct sigaction found;
    CHECK(sigaction(number, NULL, &found));
    return found.sa_handler != SIG_DFL;
}

/* A signal whose default would end the process is seldom sent: it has said enough by then. */
static void send(void)
{
    union sigval value = {.sival_int = (int)below(1000)};
    int number = some_number();
    struct sigaction found;
    CHECK(sigaction(number, NULL, &found));
    /* KNOWN: an ignored SIGSEGV that is blocked as well is lost at once. */
    if ((!is_survived(number) && below(50)) || (number == SIGSEGV && found.sa_handler == SIG_IGN))
        return;
    switch (below(3)) {
    case 0:
        say("raise %d\n", number);
        CHECK(raise(number));
        break;
    case 1:
        say("pthread_kill %d\n", number);
        CHECK(pthread_kill(pthread_self(), number));
        break;
    default:
        say("pthread_sigqueue %d\n", number);
        CHECK(pthread_sigqueue(pthread_self(), number, value));
    }
    say_mask("sent");
}

static bool is_blocked(void)
{
    return mask_now() & (1UL << (SIGSEGV - 1));
}

static bool is_handled(void)
{
    struct sigaction found;
    CHECK(sigaction(SIGSEGV, NULL, &found));
    return (found.sa_flags & SA_SIGINFO) && found.sa_handler != SIG_DFL &&
           found.sa_handler != SIG_IGN && !is_blocked();
}

/* One that nobody recovers from is as rare. KNOWN: where a handler has left its mask behind, it
 * gets to the handler. */
static void fault(void)
{
    if (depth == sizeof points / sizeof *points || (!is_handled() && below(100)) ||
        (has_left_mask && is_blocked()))
        return;
    int saves = (int)below(4) != 0;
    struct point *point = &points[depth];
    say("fault, with mask %d\n", saves);
    if (sigsetjmp(point->environment, saves) == 0) {
        point->is_set = true;
        point->nested = nested;
        depth++;
        *nowhere = 1;
    }
    point = &points[--depth];
    point->is_set = false;
    nested = point->nested;
    say_mask("recovered");
}

static void jump(void)
{
    static sigjmp_buf environment;
    static volatile int turn;
    int saves = (int)below(2);
    if (nested)
        return;
    turn = 0;
    say("sigsetjmp %d\n", saves);
    if (sigsetjmp(environment, saves) == 0) {
        sigset_t set = some_set();
        CHECK(pthread_sigmask(SIG_SETMASK, &set, NULL));
        siglongjmp(environment, 1);
    }
    if (turn++ == 0 && below(2)) {
        sigset_t set = some_set();
        CHECK(sigprocmask(SIG_SETMASK, &set, NULL));
        siglongjmp(environment, 1);
    }
    say_mask("jumped");
}

/* ---- contexts ---- */

static ucontext_t outer, inner;

static void in_other_context(void)
{
    sigset_t fault = only(SIGSEGV);
    struct timespec now = {0, 0};
    say_mask("in a context");
    step();
    sigtimedwait(&fault, NULL, &now);
    CHECK(swapcontext(&inner, &outer));
    say_mask("in it again");
}

static void switch_context(void)
{
    static char *stack;
    sigset_t pending;
    CHECK(sigpending(&pending));
    /* KNOWN: one that is pending is not delivered by swapcontext, but just before. */
    if (in_context || nested || sigismember(&pending, SIGSEGV))
        return;
    if (!stack)
        stack = malloc(CONTEXT_BYTES);
    in_context = true;
    CHECK(getcontext(&inner));
    /* KNOWN: a context that is made of one saved while SIGSEGV was blocked does not block it. */
    inner.uc_sigmask = some_set();
    inner.uc_stack.ss_sp = stack;
    inner.uc_stack.ss_size = CONTEXT_BYTES;
    inner.uc_link = &outer;
    makecontext(&inner, in_other_context, 0);
    say("swapcontext\n");
    CHECK(swapcontext(&outer, &inner));
    say_mask("left it");
    change_mask();
    CHECK(swapcontext(&outer, &inner));
    say_mask("it ended");
    in_context = false;
}

static void enter_context(void)
{
    static ucontext_t context;
    static volatile bool again;
    if (nested)
        return;
    again = false;
    say("getcontext\n");
    CHECK(getcontext(&context));
    if (!again) {
        again = true;
        change_mask();
        setcontext(&context);
    }
    say_mask("entered");
}

/* ---- stacks, waits, threads and children ---- */

static void set_stack(void)
{
    static char room[3][64 << 10];
    stack_t stack = {.ss_sp = room[below(3)], .ss_size = sizeof room[0]}, old;
    if (below(3) == 0)
        stack.ss_flags = SS_DISABLE;
    else if (below(3) == 0)
        stack.ss_flags = (int)(1U << 31); /* SS_AUTODISARM */
    int result = sigaltstack(&stack, &old);
    say("sigaltstack %x: %d, was %x %zu\n", (unsigned)stack.ss_flags, result,
        result ? 0 : (unsigned)old.ss_flags, result ? 0 : old.ss_size);
}

static void wait_for_some(void)
{
    sigset_t set = some_set();
    sigset_t pending;
    struct timespec now = {0, 0};
    siginfo_t info;
    CHECK(sigpending(&pending));
    say("pending %lx\n", bits_of(&pending));
    int number = sigtimedwait(&set, &info, &now);
    say("sigtimedwait %lx: %d\n", bits_of(&set), number);
    if (number > 0)
        say("  code %d value %d\n", info.si_code,
            info.si_code == SI_QUEUE ? info.si_value.sival_int : 0);
}

static void suspend(void)
{
    sigset_t pending;
    sigset_t set = some_set();
    CHECK(sigpending(&pending));
    if (!(bits_of(&pending) & ~bits_of(&set) & 1UL << (SIGUSR1 - 1)) || !is_survived(SIGUSR1))
        return;
    struct sigaction found;
    CHECK(sigaction(SIGUSR1, NULL, &found));
    if (found.sa_handler == SIG_IGN || !is_survived(SIGUSR2) || !is_survived(SIGBUS) ||
        !is_survived(SIGSEGV))
        return;
    say("sigsuspend %lx\n", bits_of(&set));
    sigsuspend(&set);
    say_mask("suspended");
}

static void *thread_body(void *unused)
{
    (void)unused;
    say_mask("thread");
    return NULL;
}

static void start_thread(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t set = some_set();
    bool with = below(2);
    CHECK(pthread_attr_init(&attributes));
    if (with)
        CHECK(pthread_attr_setsigmask_np(&attributes, &set));
    say("thread %d\n", with);
    CHECK(pthread_create(&thread, &attributes, thread_body, NULL));
    CHECK(pthread_join(thread, NULL));
    CHECK(pthread_attr_destroy(&attributes));
}

static void fork_child(void)
{
    int status = 0;
    unsigned steps = below(4);
    say("fork\n");
    pid_t child = fork();
    if (child == 0) {
        say_mask("child");
        read_action();
        for (unsigned i = 0; i < steps; i++) {
            change_mask();
            set_action();
            send();
        }
        _exit(5);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    say("child ended %x\n", (unsigned)status & ~0x80U); /* a core or none */
}

static bool held;

static void begin_copy(void)
{
    if (!beside.block || held || nested)
        return;
    hold();
    held = true;
}

static void end_copy(void)
{
    if (held && !nested)
        release();
    held &= nested != 0;
}

static void touch(void)
{
    if (!beside.block)
        return;
    (*(volatile unsigned char *)(beside.block + below(EDGE)))++;
    (*(volatile unsigned char *)(beside.block + EDGE + IN_FLIGHT + below(EDGE)))++;
}

static void step(void)
{
    static void (*const steps[])(void) = {
        set_action, set_action, read_action,   set_old,        change_mask,   change_mask,
        send,       send,       send,          fault,          fault,         jump,
        set_stack,  suspend,    wait_for_some, switch_context, enter_context, start_thread,
        begin_copy, begin_copy, end_copy,      touch,          touch,         touch};
    if (below(40) == 0 && !nested)
        fork_child();
    else
        steps[below(sizeof steps / sizeof *steps)]();
}

static int run_here(uint64_t seed, int count)
{
    nowhere = no_page();
    state = seed * 2 + 1;
    for (int i = 0; i < 10; i++)
        below(2);
    if (below(3)) /* else the first handlers are older than CUDA */
        edge_start();
    for (int i = 0; i < count; i++) {
        if (i == 30 && !beside.block)
            edge_start();
        if (beside.block || i < 30) {
            say("%d ", i);
            step();
        }
    }
    end_copy();
    return 0;
}

/* ---- two runs of one ---- */

static size_t transcribe(uint64_t seed, bool preloaded, char *text, int *status)
{
    int ends[2];
    size_t size = 0;
    CHECK(pipe(ends));
    pid_t child = fork();
    if (child == 0) {
        char number[32], steps[16];
        snprintf(number, sizeof number, "%llu", (unsigned long long)seed);
        snprintf(steps, sizeof steps, "%d", STEPS);
        if (!preloaded)
            unsetenv("LD_PRELOAD");
        setenv("SAFECOPY_OPTIONS", "report_path=none:verbosity=0", 1);
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", "random_signals", "run", number, steps, (char *)NULL);
        _exit(3);
    }
    close(ends[1]);
    /* It may have blocked every signal that could end it. */
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    for (ssize_t got = 1; got > 0;) {
        if (poll(&end, 1, LIMIT_MS) == 0)
            kill(child, SIGKILL);
        got = read(ends[0], text + size, TEXT_BYTES - 1 - size);
        size += got > 0 ? (size_t)got : 0;
    }
    text[size] = '\0';
    close(ends[0]);
    waitpid(child, status, 0);
    *status &= ~0x80;
    return size;
}

static void show_tail(const char *who, const char *text, size_t same, int status)
{
    size_t from = same > 1500 ? same - 1500 : 0;
    printf("--- %s, ended %x\n%.*s\n", who, (unsigned)status, (int)(same + 300 - from),
           text + from);
}

/* An endless loop in one of them may be cut off at different lengths. */
static bool compare(uint64_t seed)
{
    static char plain[TEXT_BYTES], preloaded[TEXT_BYTES];
    int plain_status = 0, status = 0;
    transcribe(seed, false, plain, &plain_status);
    transcribe(seed, true, preloaded, &status);
    if (status == plain_status && strcmp(plain, preloaded) == 0)
        return true;
    size_t same = 0;
    while (plain[same] && plain[same] == preloaded[same])
        same++;
    printf("program %llu differs\n", (unsigned long long)seed);
    show_tail("plain", plain, same, plain_status);
    show_tail("preloaded", preloaded, same, status);
    return false;
}

int main(int count, char **arguments)
{
    if (count == 4 && strcmp(arguments[1], "run") == 0)
        return run_here(strtoull(arguments[2], NULL, 0), atoi(arguments[3]));
    unsigned long programs = count > 1 ? strtoul(arguments[1], NULL, 0) : 60;
    uint64_t seed = count > 2 ? strtoull(arguments[2], NULL, 0) : 1;
    unsigned wrong = 0;
    for (unsigned long i = 0; i < programs && wrong < 3; i++)
        wrong += !compare(seed + i);
    printf("%lu programs, %u differ\n", programs, wrong);
    return wrong != 0;
}
