/* The process that we live in: whether wrappers and hooks do anything in it.
 *
 * sc_active() says whether they do. They do nothing before the driver was attached, with mode=off,
 * and after the process began to end. Nor do they in a forked child of a process that used CUDA,
 * where the driver does not work. It is one relaxed load.
 *
 * Thread-safe; no lock; safe in a signal handler, except where a comment says otherwise.
 */
#ifndef SC_INTERPOSE_BASE_PROCESS_H
#define SC_INTERPOSE_BASE_PROCESS_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/frames.h"
#include "report/options.h"

extern struct sc_options sc_options; /* constant once sc_life_start returned */

/* Does the program get our wrappers? False with mode=off, and where starting failed. */
bool sc_process_wants_wrappers(void);

/* The process's state. It has a page of its own, which the kernel wipes in a forked child, so that
 * hooks in the child do nothing even before our fork handler has run. */
struct sc_process {
    _Alignas(4096) _Atomic bool is_active;
    _Atomic unsigned char simplicity; /* enum sc_simplicity */
};

extern struct sc_process sc_process;

static inline bool sc_active(void)
{
    return __builtin_expect(atomic_load_explicit(&sc_process.is_active, memory_order_relaxed), 1);
}

/* Which calls of the process may take the quick way of simple calls (interpose/calls/README.md): a
 * simple call is nothing but work on its own stream. That holds on a stream without ties to others,
 * while wrappers are active, as long as nothing has ever captured and no option asks what kernels
 * use. SC_SIMPLE_BUT_TRACED: the same, but CUPTI tells of calls, so a simple call must say that a
 * wrapper makes it (cupti_hooks/current_call.h). Which of the two it is, is known before the
 * process uses CUDA. SC_LAUNCHES_UNWATCHED is a bit besides: nobody looks at launches, so these are
 * simple even without the others. */
enum sc_simplicity {
    SC_NOT_SIMPLE = 0,
    SC_LAUNCHES_UNWATCHED = 1,
    SC_SIMPLE_BUT_TRACED = 2,
    SC_SIMPLE = 4
};

static inline enum sc_simplicity sc_process_simplicity(void)
{
    return (enum sc_simplicity)atomic_load_explicit(&sc_process.simplicity, memory_order_relaxed);
}

/* Notes that a stream captures: from now on, for good, no call of the process is simple. */
void sc_process_note_capture(void);

/* Sets whether launches are attended. */
void sc_process_watch_launches(bool attends);

static inline bool sc_process_watches_launches(void)
{
    return __builtin_expect(!(sc_process_simplicity() & SC_LAUNCHES_UNWATCHED), 0);
}

/* Are we in a forked child of a process that used CUDA? Async-signal-safe. */
bool sc_process_is_child(void);

/* Is it this very process that used CUDA, and not a parent of it? */
bool sc_process_is_owner(void);

/* Is the library alone: not preloaded, so that only CUPTI's callbacks tell it of calls
 * (entry/injected.h)? Constant once the driver has been initialised. */
extern bool sc_process_alone;
void sc_process_note_alone(void);

static inline bool sc_process_is_alone(void)
{
    return __builtin_expect(sc_process_alone, 0);
}

/* Makes wrappers and hooks work, as the process uses CUDA from now on. `is_cupti_traced`: CUPTI
 * tells of calls. */
void sc_process_uses_cuda(bool is_cupti_traced);

/* Makes wrappers and hooks inert. */
void sc_process_stops(void);

/* In a forked child, on its one thread: forgets the thread's id. */
void sc_process_forked(void);

/* Restores errno, at the end of the block, to what it is here. */
#define SC_KEEP_ERRNO()                                                                            \
    __attribute__((cleanup(sc_process_put_errno_back), unused)) const int errno_before_ = errno

static inline void sc_process_put_errno_back(const int *before)
{
    errno = *before;
}

/* Makes the rest of the block a call of the library's own: what it calls of libc does not count as
 * the program's, and our hooks only pass it on. */
#define SC_INSIDE()                                                                                \
    __attribute__((cleanup(sc_inside_end), unused)) const struct sc_frame inside_ =                \
        sc_inside_begin(SC_FRAME())

extern __thread struct sc_frame sc_inside; /* the function of the innermost such block */

/* The SC_INSIDE block that a signal handler of the program's has interrupted. */
struct sc_inside_interruption {
    uintptr_t handler_end; /* where the stack pointer is when that handler has returned */
    uintptr_t block;       /* frame.place of the block's function; 0: the handler has returned */
};

extern __thread struct sc_inside_interruption sc_inside_interruption
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline struct sc_frame sc_inside_begin(struct sc_frame frame)
{
    if (__builtin_expect(sc_inside_interruption.block == frame.place, 0))
        sc_inside_interruption.block = 0; /* the handler has left that block by siglongjmp */
    return sc_frame_enter(&sc_inside, frame);
}

static inline void sc_inside_end(const struct sc_frame *outer)
{
    sc_frame_leave(&sc_inside, outer);
}

static inline bool sc_is_inside(void)
{
    return sc_frame_is_noted(&sc_inside);
}

/* Called by our function with this frame just before it calls a signal handler of the program's:
 * what the handler calls counts as the program's again, although the handler has interrupted an
 * SC_INSIDE block. */
static inline void sc_inside_interrupt(struct sc_frame frame)
{
    if (__builtin_expect(sc_inside.place == sc_inside_interruption.block, 1))
        return;
    sc_inside_interruption.block = sc_inside.place;
    atomic_signal_fence(memory_order_seq_cst);
    sc_inside_interruption.handler_end = frame.place + sizeof frame.place;
}

/* Called when that handler is about to return: the interrupted block counts again. On x86-64 our
 * sigreturn does the same. */
static inline void sc_inside_resume(struct sc_frame frame)
{
    if (sc_inside_interruption.handler_end == frame.place + sizeof frame.place)
        sc_inside_interruption.block = 0;
}

/* Is a handler of the program's running that has interrupted the innermost SC_INSIDE block? */
static inline bool sc_inside_is_interrupted(void)
{
    return sc_inside.place != 0 && sc_inside_interruption.block == sc_inside.place;
}

/* The thread's id (gettid); 0: not asked for yet. */
extern __thread int32_t sc_process_thread_id;
int32_t sc_process_find_thread_id(void);

static inline int32_t sc_thread_id(void)
{
    int32_t known = sc_process_thread_id;
    return __builtin_expect(known != 0, 1) ? known : sc_process_find_thread_id();
}

#endif
