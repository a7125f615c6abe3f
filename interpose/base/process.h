/* The state of the process: whether wrappers (of the driver's functions) and hooks (of libc's) do
 * anything in it.
 *
 * sc_active() returns whether they do, by one relaxed load. They do nothing before the driver was
 * attached, with mode=off, and after the process began to end; nor in a forked child of a process
 * that used CUDA, where the driver does not work.
 *
 * Thread-safe; no lock; safe in a signal handler, unless a comment says otherwise. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 *   wrapper: our function in the place of one of the driver's
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

/* Does the program get the library's wrappers when it looks up functions of the driver? False with
 * mode=off, and if the library could not start. */
bool sc_process_wants_wrappers(void);

/* The process's state. It has a page of its own, which Linux clears in a forked child
 * (MADV_WIPEONFORK), so that hooks in the child do nothing even before the library's fork handler
 * has run. */
struct sc_process {
    _Alignas(4096) _Atomic bool is_active;
    _Atomic unsigned char simplicity; /* enum sc_simplicity */
};

extern struct sc_process sc_process;

/* Do wrappers and hooks do anything in this process? Each of them asks first, and else makes only
 * the real call. */
static inline bool sc_active(void)
{
    return __builtin_expect(atomic_load_explicit(&sc_process.is_active, memory_order_relaxed), 1);
}

/* Which calls of the process may take the quick path for simple calls (interpose/calls/README.md).
 * A simple call does nothing but enqueue work on its stream. That holds on a stream without
 * dependencies on others, while wrappers are active, as long as no stream has ever captured and no
 * option needs to know what GPU kernels use. SC_SIMPLE_BUT_TRACED: simple, but CUPTI reports calls,
 * so the call must record that a wrapper makes it (cupti_hooks/current_call.h); the process is
 * traced from its first use of CUDA or never. SC_LAUNCHES_UNWATCHED is a bit of its own: no module
 * watches launches. A launch is simple only with this bit besides. The values are ordered: a path
 * asks for its value or a higher one. */
enum sc_simplicity {
    SC_NOT_SIMPLE = 0,
    SC_LAUNCHES_UNWATCHED = 1,
    SC_SIMPLE_BUT_TRACED = 2,
    SC_SIMPLE = 4
};

/* Returns which calls may take the quick path now. */
static inline enum sc_simplicity sc_process_simplicity(void)
{
    return (enum sc_simplicity)atomic_load_explicit(&sc_process.simplicity, memory_order_relaxed);
}

/* Records that a stream captures a graph: from now on no call of the process is simple, since any
 * call may become a node instead of work. */
void sc_process_note_capture(void);

/* Sets whether a module watches launches of GPU kernels; while one does, launches do not take the
 * quick path. */
void sc_process_watch_launches(bool watches);

/* Does a module watch launches of GPU kernels, so that a launch must take the long path? */
static inline bool sc_process_watches_launches(void)
{
    return __builtin_expect(!(sc_process_simplicity() & SC_LAUNCHES_UNWATCHED), 0);
}

/* Is this process a forked child of one that used CUDA? Async-signal-safe. */
bool sc_process_is_child(void);

/* Is this the very process that used CUDA, and not a child that shares or copies its memory? */
bool sc_process_is_owner(void);

/* Is the library "alone": not preloaded, so that it learns of calls only by CUPTI's callbacks
 * (entry/injected.h)? Set by sc_process_note_alone; constant once the driver has been initialised.
 */
extern bool sc_process_alone;
void sc_process_note_alone(void);

/* Was the library loaded by the driver and not preloaded, so that it does not see all calls? */
static inline bool sc_process_is_alone(void)
{
    return __builtin_expect(sc_process_alone, 0);
}

/* Makes wrappers and hooks active, as the process uses CUDA from now on. `is_cupti_traced`: CUPTI
 * reports calls. */
void sc_process_uses_cuda(bool is_cupti_traced);

/* Makes wrappers and hooks inactive, in a forked child and when the process ends. */
void sc_process_stops(void);

/* Forgets the thread's id that is stored, in a forked child, whose thread has another one. */
void sc_process_forked(void);

/* Restores errno at the end of the block to its value here. */
#define SC_KEEP_ERRNO()                                                                            \
    __attribute__((cleanup(sc_process_put_errno_back), unused)) const int errno_before_ = errno

/* Ends SC_KEEP_ERRNO. */
static inline void sc_process_put_errno_back(const int *before)
{
    errno = *before;
}

/* Marks the rest of the block as a call of the library: functions of libc that it calls do not
 * count as the program's, and hooks only pass them on. */
#define SC_INSIDE()                                                                                \
    __attribute__((cleanup(sc_inside_end), unused)) const struct sc_frame inside_ =                \
        sc_inside_begin(SC_FRAME())

extern __thread struct sc_frame sc_inside; /* the function with the innermost such block */

/* A call of the library (an SC_INSIDE block) that a signal handler of the program has interrupted:
 * what the handler calls counts as the program's all the same. */
struct sc_inside_interruption {
    uintptr_t handler_end; /* the stack pointer after that handler has returned */
    uintptr_t block;       /* frame.place of the block's function; 0: the handler has returned */
};

extern __thread struct sc_inside_interruption sc_inside_interruption
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Begins an SC_INSIDE block of the function with this frame. Returns the outer block, which
 * sc_inside_end restores. A handler that had interrupted a block of the very same frame cannot be
 * running any more: the place is used again. */
static inline struct sc_frame sc_inside_begin(struct sc_frame frame)
{
    if (__builtin_expect(sc_inside_interruption.block == frame.place, 0))
        sc_inside_interruption.block = 0; /* the handler has left that block by siglongjmp */
    return sc_frame_enter(&sc_inside, frame);
}

/* Ends an SC_INSIDE block: the outer one, if any, is noted again. */
static inline void sc_inside_end(const struct sc_frame *outer)
{
    sc_frame_leave(&sc_inside, outer);
}

/* Is this thread within a call of the library, so that hooks only pass the call on? The function
 * that said so may have been left by siglongjmp: its frame is checked. */
static inline bool sc_is_inside(void)
{
    return sc_frame_is_noted(&sc_inside);
}

/* Lets calls of a signal handler of the program count as the program's again, although the handler
 * has interrupted an SC_INSIDE block. Called by the library's function with this frame just before
 * it calls the handler. */
static inline void sc_inside_interrupt(struct sc_frame frame)
{
    if (__builtin_expect(sc_inside.place == sc_inside_interruption.block, 1))
        return;
    sc_inside_interruption.block = sc_inside.place;
    atomic_signal_fence(memory_order_seq_cst);
    sc_inside_interruption.handler_end = frame.place + sizeof frame.place;
}

/* Makes the interrupted block count again. Called when the handler of sc_inside_interrupt is about
 * to return. On x86-64 the code of sigreturn.c does the same. */
static inline void sc_inside_resume(struct sc_frame frame)
{
    if (sc_inside_interruption.handler_end == frame.place + sizeof frame.place)
        sc_inside_interruption.block = 0;
}

/* Is a handler of the program running that has interrupted the innermost SC_INSIDE block? */
static inline bool sc_inside_is_interrupted(void)
{
    return sc_inside.place != 0 && sc_inside_interruption.block == sc_inside.place;
}

/* The thread's id (gettid); 0: not read yet. */
extern __thread int32_t sc_process_thread_id;
int32_t sc_process_find_thread_id(void);

/* Returns the calling thread's id (gettid), which is read once in each thread. */
static inline int32_t sc_thread_id(void)
{
    int32_t known = sc_process_thread_id;
    return __builtin_expect(known != 0, 1) ? known : sc_process_find_thread_id();
}

#endif
