/* The process that we live in: what it is to us, and whether we do anything.
 *
 * sc_active() says whether wrappers and hooks do anything. They do nothing before the driver was
 * attached, with mode=off, and after the process began to end. Nor do they in a forked child of a
 * process that used CUDA, where the driver does not work. It is one relaxed load.
 *
 * Thread-safe; no lock; safe in a signal handler, but for what says otherwise.
 */
#ifndef SC_INTERPOSE_BASE_PROCESS_H
#define SC_INTERPOSE_BASE_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/options.h"
#include "track/frames.h"

extern struct sc_options sc_options; /* constant once sc_life_start returned */

/* Are wrappers to do anything? False with mode=off and where starting failed. */
bool sc_process_wants_wrappers(void);

/* Alone on its page, which the kernel wipes in the child of a fork: hooks that run there before our
 * own handler are inert already. */
struct sc_process {
    _Alignas(4096) _Atomic bool is_active;
};

extern struct sc_process sc_process;

static inline bool sc_active(void)
{
    return __builtin_expect(atomic_load_explicit(&sc_process.is_active, memory_order_relaxed), 1);
}

/* Are we in a forked child of a process that used CUDA? Async-signal-safe. */
bool sc_process_is_child(void);

/* Did this very process use CUDA? */
bool sc_process_is_owner(void);

/* Is the library alone with CUPTI's callbacks, since it is not preloaded (entry/injected.h)?
 * Constant once the driver has been initialised. */
extern bool sc_process_alone;
void sc_process_note_alone(void);

static inline bool sc_process_is_alone(void)
{
    return __builtin_expect(sc_process_alone, 0);
}

/* The process uses CUDA from now on: wrappers and hooks work. */
void sc_process_uses_cuda(void);

/* In a forked child, on its one thread. */
void sc_process_forked(void);

/* In a function that makes a call of ours: hooks stand aside on this thread to the end of the
 * block.
 */
#define SC_INSIDE()                                                                                \
    __attribute__((cleanup(sc_inside_end), unused)) const struct sc_frame inside_ =                \
        sc_inside_begin(SC_FRAME())

extern __thread struct sc_frame sc_inside; /* the innermost such block's function */

/* The place of the block's function that a handler of the program's has interrupted, until that
 * handler, or one that interrupts it, returns; else 0. The way back of handlers clears it. */
extern __thread uintptr_t sc_inside_interrupted
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline struct sc_frame sc_inside_begin(struct sc_frame frame)
{
    if (__builtin_expect(sc_inside_interrupted == frame.place, 0))
        sc_inside_interrupted = 0; /* the handler has left that block by siglongjmp */
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

/* In the handler of a signal of the program's, that has interrupted the thread. */
static inline void sc_inside_interrupt(void)
{
    if (__builtin_expect(sc_inside.place != 0, 0))
        sc_inside_interrupted = sc_inside.place;
}

/* Is a handler of the program's running, that has interrupted the innermost block? What it calls
 * are no calls of ours. */
static inline bool sc_inside_is_interrupted(void)
{
    return sc_inside_interrupted != 0 && sc_inside_interrupted == sc_inside.place;
}

/* gettid, remembered; 0: not asked yet. */
extern __thread int32_t sc_process_thread_id;
int32_t sc_process_find_thread_id(void);

static inline int32_t sc_thread_id(void)
{
    int32_t known = sc_process_thread_id;
    return __builtin_expect(known != 0, 1) ? known : sc_process_find_thread_id();
}

#endif
