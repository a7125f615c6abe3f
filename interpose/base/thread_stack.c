#include "interpose/base/thread_stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"

#include "common/peek.h"

#include "common/poison.h"

enum { ALTERNATES = 256, MAIN_BYTES_MAX = 64 << 20 };

/* ---- stacks of signal handlers ----
 *
 * A thread keeps its entry of the table until another thread is given the same one. A stack that is
 * forgotten too early, or kept too long, only has a page guarded that should not be, or the
 * reverse. */

struct alternate {
    _Atomic uintptr_t start, end;
};

static struct alternate alternates[ALTERNATES];
static _Atomic unsigned next_alternate;
static __thread int own_alternate __attribute__((tls_model("initial-exec"))); /* index + 1 */

/* Records the calling thread's alternate signal stack, so that its pages are never protected. A
 * thread without an entry needs none to say that it has no such stack. While the entry changes, its
 * end is 0, so that a reader sees no mixture. */
void sc_thread_stack_note_alternate(const stack_t *stack)
{
    bool disabled = stack->ss_flags & SS_DISABLE;
    if (disabled && own_alternate == 0)
        return;
    if (own_alternate == 0)
        own_alternate = (int)(atomic_fetch_add(&next_alternate, 1) % ALTERNATES) + 1;
    struct alternate *own = &alternates[own_alternate - 1];
    uintptr_t start = disabled ? 0 : (uintptr_t)stack->ss_sp;
    atomic_store(&own->end, 0);
    atomic_store(&own->start, start);
    atomic_store(&own->end, disabled ? 0 : start + stack->ss_size);
}

/* Does any thread's alternate signal stack overlap the interval? Only so many are noted; later
 * threads take over the entries of earlier ones. */
static bool is_alternate(uintptr_t address, size_t size_bytes)
{
    unsigned count = atomic_load_explicit(&next_alternate, memory_order_relaxed);
    for (unsigned i = 0; i < count && i < ALTERNATES; i++) {
        uintptr_t start = atomic_load_explicit(&alternates[i].start, memory_order_relaxed);
        uintptr_t end = atomic_load_explicit(&alternates[i].end, memory_order_relaxed);
        if (start < address + size_bytes && address < end)
            return true;
    }
    return false;
}

/* ---- the thread's own ---- */

static __thread struct sc_thread_stack own __attribute__((tls_model("initial-exec")));

/* Returns where the calling thread's own stack is; empty if that was not learnt yet. */
struct sc_thread_stack sc_thread_stack(void)
{
    return own;
}

/* Finds the main thread's stack. At its top Linux has put the program's file name (AT_EXECFN), and
 * it may grow down to its limit, of which 64 MB count at most. The C library would read
 * /proc/self/maps for that. Empty if Linux does not say. */
static struct sc_thread_stack find_main_stack(void)
{
    struct sc_thread_stack stack = {0};
    struct rlimit limit;
    uintptr_t top = getauxval(AT_EXECFN);
    if (top == 0 || getrlimit(RLIMIT_STACK, &limit) != 0)
        return stack;
    size_t size = limit.rlim_cur < MAIN_BYTES_MAX ? limit.rlim_cur : MAIN_BYTES_MAX;
    stack.end = (top | (getauxval(AT_PAGESZ) - 1)) + 1;
    stack.start = stack.end - size;
    stack.is_main = true;
    return stack;
}

/* Does the interval overlap the main thread's stack, with what it may still grow to? Any thread may
 * ask. */
bool sc_thread_stack_overlaps_main(uintptr_t address, size_t size_bytes)
{
    struct sc_thread_stack stack = own.is_main ? own : find_main_stack();
    return stack.start < address + size_bytes && address < stack.end;
}

/* Asks the C library where the calling thread's stack is. */
static void learn_thread_stack(void)
{
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    own.start = (uintptr_t)lowest;
    own.end = (uintptr_t)lowest + size;
}

/* Finds where the calling thread's stack is, once in each thread. The main thread is the one whose
 * id is the process's. */
static __attribute__((noinline)) void learn_own(void)
{
    SC_KEEP_ERRNO();
    if (sc_thread_id() == getpid())
        own = find_main_stack();
    else
        learn_thread_stack();
}

/* Finds where the calling thread's stack is, unless that is known. Wrappers of the driver call
 * this; hooks of libc only use the result, since they must not call the C library. */
void sc_thread_stack_learn(void)
{
    if (sc_unlikely(own.end == 0))
        learn_own();
}

/* Does the interval overlap a stack on which Linux might deliver a signal: the thread's own, the
 * one on which it runs (the interval then contains this frame), or an alternate one? Those pages
 * are never protected. */
bool sc_thread_stack_overlaps(uintptr_t address, size_t size_bytes)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return (own.start < address + size_bytes && address < own.end) || here - address < size_bytes ||
           is_alternate(address, size_bytes);
}

/* Does the thread run on its own stack, with more than `size_bytes` left below this frame? False on
 * any other stack, whose bounds are not known. */
bool sc_thread_stack_has_room(size_t size_bytes)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return here < own.end && here >= own.start && here - own.start > size_bytes;
}

/* Does the address lie on the calling thread's own stack? False as long as that was not learnt. */
bool sc_thread_stack_holds(uintptr_t address)
{
    return address - own.start < own.end - own.start;
}

/* Reads memory by a pipe, where process_vm_readv is forbidden. If that cannot read the address, but
 * can read a variable of this function, nothing is mapped at the address; else it is not known. */
static enum sc_stack_read read_other(void *into, uintptr_t address, size_t size_bytes)
{
    char here = 0;
    char byte;
    if (sc_peek_anyhow(into, address, size_bytes))
        return SC_STACK_READ;
    return sc_peek_anyhow(&byte, (uintptr_t)&here, 1) ? SC_STACK_IS_GONE : SC_STACK_UNKNOWN;
}

/* Does the interval lie on the calling thread's own stack, and not below the frame at `here`? */
static bool is_above(uintptr_t here, uintptr_t address, size_t size_bytes)
{
    return sc_thread_stack_holds(here) && address >= here && sc_thread_stack_holds(address) &&
           size_bytes <= own.end - address;
}

/* Copies bytes that lie on the calling thread's own stack, at most a page above this function. They
 * are certain to be mapped, so no system call is needed. False: they lie elsewhere, and nothing was
 * copied. */
bool sc_thread_stack_copy(void *into, uintptr_t address, size_t size_bytes)
{
    enum { NEAR_BYTES = 4096 };
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (!is_above(here, address, size_bytes) || address - here >= NEAR_BYTES ||
        size_bytes > NEAR_BYTES)
        return false;
    memcpy(into, (const void *)address, size_bytes);
    return true;
}

/* Copies bytes that may lie on a stack, and may be gone: by process_vm_readv, which fails if
 * nothing is mapped there. A sandbox may forbid that call, which a read of this function's own
 * variable shows; then the thread's own stack is read directly, and any other by a pipe. */
enum sc_stack_read sc_thread_stack_read(void *into, uintptr_t address, size_t size_bytes)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t word;
    if (sc_peek(into, address, size_bytes))
        return SC_STACK_READ;
    if (sc_peek(&word, (uintptr_t)&here, sizeof here))
        return SC_STACK_IS_GONE;
    if (!is_above(here, address, size_bytes))
        return read_other(into, address, size_bytes);
    memcpy(into, (const void *)address, size_bytes);
    return SC_STACK_READ;
}
