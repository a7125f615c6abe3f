/* What lower folders of interpose/ ask of higher ones: a function each, defined once, in the file
 * that is named. Everything else is called downwards only (scripts/check-arrows).
 */
#ifndef SC_INTERPOSE_BASE_UPCALLS_H
#define SC_INTERPOSE_BASE_UPCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/base/compiler.h"

struct sc_call;
struct sc_stream_record;

/* entry/life.c: reads the options and says what is wrong with them. The first call does so, at the
 * first sign of CUDA. */
void sc_life_start(void);

/* entry/life.c: cuInit succeeded. The report is opened, and from now on hooks and wrappers work. */
void sc_life_cuda_is_up(void);

/* entry/life.c: the process ends now. What there is to say is said. Returns the status to end with:
 * this one, or the one that strict wants. May be called again. */
int sc_life_finish(int status);

/* entry/life.c: the program may be replaced now, or die, with none of our handlers run: what was
 * found goes to disk first. */
void sc_life_may_vanish(void);

/* calls/context_calls.c: forgets the contexts of whose end the driver has told. One load if there
 * is none. */
void sc_context_calls_bury_ended(void);

/* capture/detours.c: the calling thread's per-thread default stream waits for a detour of another
 * thread's, unless it captures. */
void sc_detours_pay(struct sc_stream_record *stream);

/* reaper/nvtx.c: gives a stream of ours a name for tools; both live for as long as the context. One
 * load without a tool. May be called with locks of the library's held. */
void sc_nvtx_name_stream(const void *stream, const char *name);

/* postmortem/postmortem.c: the driver has answered the program's call with an error (CUresult). Of
 * those that leave the context unusable, the first has a line in the report when this returns. No
 * lock of the library should be held. errno is kept. */
void sc_postmortem_failed(const struct sc_call *call, int result);

/* guard/guard.c: does the work of sc_guard_attend and sc_guard_tell. */
void sc_guard_attend_some(uint64_t lanes);
void sc_guard_tell_some(void);

/* guard/guard.c: brings the pages into line with what the tracker knows: pages of operations that
 * the calling thread has issued are protected on return, and no page is protected for the sake of
 * an operation that the thread has ended, or that had ended before on one of the streams
 * (sc_spans_stream_bit). What other threads are about to apply besides is left to them. Two loads
 * when there is nothing to do. */
void sc_guard_apply_on(uint64_t stream_bits);

/* The same for all streams. A hook or wrapper in which operations end must call this before it
 * returns, and before memory goes back to where it came from. */
static inline void sc_guard_apply(void)
{
    sc_guard_apply_on(~UINT64_C(0));
}

/* The same for none: the call issues operations, and tells the program of no end. */
static inline void sc_guard_apply_own(void)
{
    sc_guard_apply_on(0);
}

/* Around one step of the tracker's that issues or ends operations: what it changes of pages in
 * these lanes (track/spans.h) is told to the kernel by sc_guard_tell, without the tracker's lock.
 * Only a hint of what the step changes: the rest is left to sc_guard_apply. No lane: nothing is
 * done. */
static inline void sc_guard_attend(uint64_t lanes)
{
    if (sc_unlikely(lanes))
        sc_guard_attend_some(lanes);
}

static inline void sc_guard_tell(uint64_t lanes)
{
    if (sc_unlikely(lanes))
        sc_guard_tell_some();
}

/* reaper/own_threads.c: makes the call. Where the calling thread may have less of its stack left
 * than the driver takes to make streams and to pin memory, the call is made on a thread of the
 * library's, with the caller's context, and waited for. The caller's signals come meanwhile, on the
 * caller's own stack. False: the system gives no thread, and no call was made. No lock of the
 * library's that a handler may want should be held. errno is kept. */
bool sc_own_threads_make_room(void (*function)(void *argument), void *argument);

/* A page fault that a signal told of. */
struct sc_fault {
    uintptr_t address;
    uintptr_t pc;
    const void *context; /* the interrupted one, ucontext_t */
    uint64_t mask;       /* its signal mask, as the kernel has it */
    bool write;
    bool executes; /* the instruction itself was to be read */
    bool denied;   /* mapped, but not accessible (SEGV_ACCERR) */
};

/* guard/touches.c: called by the SIGSEGV handler on the faulting thread, with signals blocked.
 * True: the instruction is to be repeated. The fault was ours and is handled, or a signal is
 * pending that the program is to get before. False: the fault is the program's. Async-signal-safe.
 */
bool sc_guard_fault(const struct sc_fault *fault);

/* guard/guard.c: in the child of a fork: lets go of all pages, and returns true. Made by a system
 * call of the program's own, the child has run no handler of the library's. Async-signal-safe. */
bool sc_guard_is_done_by_child(void);

/* signals/signal_mask.c: a thread of the driver's, which may have SIGSEGV really blocked, is about
 * to run a function of the program's. One load before SIGSEGV is shared, else a system call. */
void sc_signals_function_begins(void);

/* signals/signals.c: called by what notes that a thread believes SIGSEGV blocked. One that is sent
 * is to be kept then, and must not find the default action, which would kill. Async-signal-safe;
 * takes the lock of actions. */
void sc_signals_keep_blocked(void);

#endif
