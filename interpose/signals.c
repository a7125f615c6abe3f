/* The handler of SIGSEGV, and the wrappers that keep the program from noticing it. */
#include "interpose/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "interpose/driver.h"
#include "interpose/guard.h"
#include "interpose/loader.h"

#include "track/poison.h"

enum { ACTIONS = 64, STACKS = 256, SIGNALS = 65, STARTS = 64 };

typedef int sigaction_function(int number, const struct sigaction *action, struct sigaction *old);
typedef sighandler_t signal_function(int number, sighandler_t handler);
typedef int mask_function(int how, const sigset_t *set, sigset_t *old);
typedef int bits_function(int mask);
typedef void *start_function(void *argument);
typedef int create_function(pthread_t *thread, const pthread_attr_t *attributes,
                            start_function *start, void *argument);
typedef int sigaltstack_function(const stack_t *stack, stack_t *old);
typedef int sigsuspend_function(const sigset_t *mask);

static int real_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return SC_NEXT(sigaction_function *, "sigaction")(number, action, old);
}

/* ---- the program's action for SIGSEGV ----
 *
 * Kept in slots that are written once and then published, so that a handler never waits and never
 * sees half of one; a slot is used again only many actions later. */

static struct sigaction actions[ACTIONS];
static _Atomic unsigned next_action;
static _Atomic(const struct sigaction *) program_action;
static _Atomic bool taken_over;

static const struct sigaction *put_action(const struct sigaction *action)
{
    struct sigaction *slot = &actions[atomic_fetch_add(&next_action, 1) % ACTIONS];
    *slot = *action;
    return atomic_exchange(&program_action, slot);
}

static struct sigaction get_action(void)
{
    static const struct sigaction by_default;
    const struct sigaction *action = atomic_load(&program_action);
    return action ? *action : by_default;
}

/* ---- faults ---- */

/* A handler of the program that is under way on this thread. */
struct running {
    uintptr_t frame;                  /* 0: none */
    uintptr_t stack_start, stack_end; /* the alternate stack that it runs on, or empty */
};

static __thread struct running running __attribute__((tls_model("initial-exec")));
static __thread bool blocked
    __attribute__((tls_model("initial-exec"))); /* as the program sees it */

static bool lies_in(uintptr_t address, uintptr_t start, uintptr_t end)
{
    return address - start < end - start;
}

/* A handler that was left by a long jump is no longer under way: the stack is used above it, or it
 * was on an alternate stack which is not in use any more. */
static bool is_running(uintptr_t frame)
{
    if (running.frame == 0)
        return false;
    if (running.stack_start != running.stack_end &&
        !lies_in(frame, running.stack_start, running.stack_end))
        return false;
    return frame < running.frame;
}

static struct sc_fault describe(const siginfo_t *info, const ucontext_t *context)
{
    struct sc_fault fault = {
        .address = (uintptr_t)info->si_addr,
        .context = context,
        .denied = info->si_code == SEGV_ACCERR,
    };
#if defined(__x86_64__)
    fault.pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    fault.write = context->uc_mcontext.gregs[REG_ERR] & 2;
#elif defined(__aarch64__)
    enum { STATUS_MAGIC = 0x45535201, STATUS_WRITE = 1 << 6 };
    struct record {
        uint32_t magic, size;
        uint64_t esr;
    } record;
    const unsigned char *at = (const unsigned char *)context->uc_mcontext.__reserved;
    const unsigned char *end = at + sizeof context->uc_mcontext.__reserved;
    fault.pc = context->uc_mcontext.pc;
    fault.write = true; /* without a record: what waits for too much is still right */
    for (; at + sizeof record <= end; at += record.size) {
        memcpy(&record, at, sizeof record);
        if (record.magic == STATUS_MAGIC)
            fault.write = record.esr & STATUS_WRITE;
        if (record.magic == STATUS_MAGIC || record.size == 0)
            break;
    }
#else
#error "how does this machine tell of a fault?"
#endif
    return fault;
}

/* The default action kills, with the context of the fault for a core dump: the instruction is
 * repeated under it. What was sent is sent once more. */
static void die(int number, const siginfo_t *info)
{
    struct sigaction by_default;
    memset(&by_default, 0, sizeof by_default);
    real_sigaction(number, &by_default, NULL);
    if (info->si_code <= 0)
        syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, info);
}

static void call(const struct sigaction *action, int number, siginfo_t *info, ucontext_t *context)
{
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(number, info, context);
    else
        action->sa_handler(number);
}

/* The mask of the interrupted context comes back when the kernel returns to it. */
static void set_mask_of(const struct sigaction *action, const ucontext_t *context)
{
    sigset_t mask;
    sigorset(&mask, &context->uc_sigmask, &action->sa_mask);
    sigdelset(&mask, SIGSEGV);
    SC_NEXT(mask_function *, "pthread_sigmask")(SIG_SETMASK, &mask, NULL);
}

static void run_handler(const struct sigaction *action, int number, siginfo_t *info,
                        ucontext_t *context)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    uintptr_t stack = (uintptr_t)context->uc_stack.ss_sp;
    struct running before = running;
    running = (struct running){.frame = frame};
    if (lies_in(frame, stack, stack + context->uc_stack.ss_size)) {
        running.stack_start = stack;
        running.stack_end = stack + context->uc_stack.ss_size;
    }
    if (action->sa_flags & SA_NODEFER)
        running.frame = 0;
    set_mask_of(action, context);
    call(action, number, info, context);
    running = before;
}

/* As the kernel would: a fault for which the signal is ignored, or blocked because its handler is
 * under way, kills all the same. */
static void deliver(int number, siginfo_t *info, ucontext_t *context)
{
    struct sigaction action = get_action();
    bool is_fault = info->si_code > 0;
    bool nested = is_fault && is_running((uintptr_t)__builtin_frame_address(0));
    if (action.sa_handler == SIG_IGN && !is_fault)
        return;
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN || nested) {
        die(number, info);
        return;
    }
    if (action.sa_flags & (int)SA_RESETHAND) {
        struct sigaction reset = action;
        reset.sa_handler = SIG_DFL;
        put_action(&reset);
    }
    run_handler(&action, number, info, context);
}

static void handle(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    if (info->si_code > 0) {
        struct sc_fault fault = describe(info, context);
        bool ours = sc_guard_fault(&fault);
        errno = saved;
        if (ours)
            return;
    }
    deliver(number, info, context);
}

static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == handle;
}

bool sc_signals_take_over(void)
{
    struct sigaction found;
    struct sigaction ours;
    if (real_sigaction(SIGSEGV, NULL, &found) != 0)
        return false;
    if (is_ours(&found))
        return true;
    put_action(&found);
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = handle;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    atomic_store(&taken_over, true);
    return real_sigaction(SIGSEGV, &ours, NULL) == 0;
}

/* ---- sigaction and signal ---- */

/* Bit by signal: the program's mask for its handler has SIGSEGV, the kernel's has not. */
static _Atomic uint64_t masks_fault;

static int set_other(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction without;
    uint64_t bit = number > 0 && number < SIGNALS ? UINT64_C(1) << (number - 1) : 0;
    bool had = atomic_load(&masks_fault) & bit;
    bool has = action && sigismember(&action->sa_mask, SIGSEGV) == 1;
    if (has) {
        without = *action;
        sigdelset(&without.sa_mask, SIGSEGV);
    }
    int result = real_sigaction(number, has ? &without : action, old);
    if (result != 0)
        return result;
    if (old && had)
        sigaddset(&old->sa_mask, SIGSEGV);
    if (action && has && !had)
        atomic_fetch_or(&masks_fault, bit);
    else if (action && !has && had)
        atomic_fetch_and(&masks_fault, ~bit);
    return result;
}

SC_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    if (number != SIGSEGV)
        return set_other(number, action, old);
    if (!atomic_load(&taken_over))
        return real_sigaction(number, action, old);
    struct sigaction before = get_action();
    if (action) {
        const struct sigaction *replaced = put_action(action);
        if (replaced)
            before = *replaced;
    }
    if (old)
        *old = before;
    return 0;
}

static sighandler_t set_handler(sighandler_t handler, int flags)
{
    struct sigaction old;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    if (!(flags & SA_NODEFER))
        sigaddset(&action.sa_mask, SIGSEGV);
    return sigaction(SIGSEGV, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

#define SIGNAL(name, flags)                                                                        \
    SC_EXPORT sighandler_t name(int number, sighandler_t handler);                                 \
    SC_EXPORT sighandler_t name(int number, sighandler_t handler)                                  \
    {                                                                                              \
        if (number == SIGSEGV && atomic_load(&taken_over))                                         \
            return set_handler(handler, flags);                                                    \
        return SC_NEXT(signal_function *, #name)(number, handler);                                 \
    }

SIGNAL(signal, SA_RESTART)
SIGNAL(bsd_signal, SA_RESTART)
SIGNAL(ssignal, SA_RESTART)
SIGNAL(sysv_signal, (int)SA_RESETHAND | SA_NODEFER)
SIGNAL(__sysv_signal, (int)SA_RESETHAND | SA_NODEFER)

/* ---- masks: SIGSEGV is never really blocked ---- */

const sigset_t *sc_signals_without_fault(const sigset_t *set, sigset_t *room)
{
    if (!set || sigismember(set, SIGSEGV) != 1)
        return set;
    *room = *set;
    sigdelset(room, SIGSEGV);
    return room;
}

static int change_mask(mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    sigset_t room;
    bool named = set && sigismember(set, SIGSEGV) == 1;
    int result = real(how, sc_signals_without_fault(set, &room), old);
    if (result != 0)
        return result;
    if (old && (blocked || is_running((uintptr_t)__builtin_frame_address(0))))
        sigaddset(old, SIGSEGV);
    if (set && how == SIG_SETMASK)
        blocked = named;
    else if (named)
        blocked = how == SIG_BLOCK;
    return result;
}

SC_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(SC_NEXT(mask_function *, "sigprocmask"), how, set, old);
}

SC_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(SC_NEXT(mask_function *, "pthread_sigmask"), how, set, old);
}

static const int fault_bit = 1 << (SIGSEGV - 1);

/* The masks of BSD, an int wide. */
#define BITS(name, ...)                                                                            \
    SC_EXPORT int name(int mask);                                                                  \
    SC_EXPORT int name(int mask)                                                                   \
    {                                                                                              \
        int old = SC_NEXT(bits_function *, #name)(mask & ~fault_bit) | (blocked ? fault_bit : 0);  \
        bool named = mask & fault_bit;                                                             \
        __VA_ARGS__;                                                                               \
        return old;                                                                                \
    }

BITS(sigblock, blocked |= named)
BITS(sigsetmask, blocked = named)

/* For as long as the call lasts: handlers run under that mask. Of those that hand memory to the
 * kernel as well io.def has the wrappers. */
SC_EXPORT int sigsuspend(const sigset_t *mask)
{
    sigset_t room;
    return SC_NEXT(sigsuspend_function *, "sigsuspend")(sc_signals_without_fault(mask, &room));
}

/* ---- new threads inherit the mask, and so what the program believes of it ---- */

struct start {
    _Atomic bool taken;
    start_function *function;
    void *argument;
};

static struct start starts[STARTS];

static void *begin_blocked(void *argument)
{
    struct start start = *(struct start *)argument;
    atomic_store(&((struct start *)argument)->taken, false);
    blocked = true;
    return start.function(start.argument);
}

/* Without a free place the thread only believes that SIGSEGV is not blocked. */
static struct start *take_start(start_function *function, void *argument)
{
    for (unsigned i = 0; blocked && i < STARTS; i++) {
        if (atomic_exchange(&starts[i].taken, true))
            continue;
        starts[i].function = function;
        starts[i].argument = argument;
        return &starts[i];
    }
    return NULL;
}

SC_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                             start_function *start, void *argument)
{
    create_function *real = SC_NEXT(create_function *, "pthread_create");
    struct start *place = sc_unlikely(blocked) ? take_start(start, argument) : NULL;
    if (!place)
        return real(thread, attributes, start, argument);
    int result = real(thread, attributes, begin_blocked, place);
    if (result != 0)
        atomic_store(&place->taken, false);
    return result;
}

/* ---- stacks ----
 *
 * A place in the table is a thread's for as long as nobody else comes to it: a stack that is
 * forgotten too early, or remembered too long, costs a page guarded too much or too little. */

struct alternate {
    _Atomic uintptr_t start, end;
};

static struct alternate alternates[STACKS];
static _Atomic unsigned next_alternate;
static __thread int own_alternate __attribute__((tls_model("initial-exec"))); /* index + 1 */

static void note_alternate(const stack_t *stack)
{
    bool disabled = stack->ss_flags & SS_DISABLE;
    if (disabled && own_alternate == 0)
        return;
    if (own_alternate == 0)
        own_alternate = (int)(atomic_fetch_add(&next_alternate, 1) % STACKS) + 1;
    struct alternate *own = &alternates[own_alternate - 1];
    uintptr_t start = disabled ? 0 : (uintptr_t)stack->ss_sp;
    atomic_store(&own->end, 0);
    atomic_store(&own->start, start);
    atomic_store(&own->end, disabled ? 0 : start + stack->ss_size);
}

SC_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
    int result = SC_NEXT(sigaltstack_function *, "sigaltstack")(stack, old);
    if (result == 0 && stack) {
        int saved = errno;
        note_alternate(stack);
        if (sc_guard_busy() && !(stack->ss_flags & SS_DISABLE))
            sc_guard_let_go(stack->ss_sp, stack->ss_size);
        errno = saved;
    }
    return result;
}

/* Asked of the C library once for each thread; the main thread's grows with its limit. */
static void find_own_stack(uintptr_t *start, uintptr_t *end)
{
    static __thread uintptr_t known_start __attribute__((tls_model("initial-exec")));
    static __thread uintptr_t known_end __attribute__((tls_model("initial-exec")));
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0;
    if (!known_end && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &lowest, &size);
        pthread_attr_destroy(&attributes);
        known_start = (uintptr_t)lowest;
        known_end = (uintptr_t)lowest + size;
    }
    *start = known_start;
    *end = known_end;
}

bool sc_signals_is_stack(uintptr_t address, size_t size_bytes)
{
    uintptr_t start;
    uintptr_t end;
    unsigned count = atomic_load_explicit(&next_alternate, memory_order_relaxed);
    for (unsigned i = 0; i < count && i < STACKS; i++) {
        start = atomic_load_explicit(&alternates[i].start, memory_order_relaxed);
        end = atomic_load_explicit(&alternates[i].end, memory_order_relaxed);
        if (start < address + size_bytes && address < end)
            return true;
    }
    find_own_stack(&start, &end);
    return start < address + size_bytes && address < end;
}
