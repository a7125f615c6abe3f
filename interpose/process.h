/* The life of the process that we live in: start, fork, exit.
 *
 * sc_active() says whether wrappers and hooks do anything: not before the driver was attached, not
 * with mode=off, not in a forked child of a process that used CUDA (the driver does not work
 * there), not after the process began to end. It is one relaxed load.
 */
#ifndef SC_INTERPOSE_PROCESS_H
#define SC_INTERPOSE_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/options.h"

extern struct sc_options sc_options; /* constant once sc_process_start returned */

/* Reads the options, says what is wrong with them; once, at the first sign of CUDA. */
void sc_process_start(void);

/* False with mode=off and where starting failed. */
bool sc_process_wants_wrappers(void);

/* cuInit succeeded: the report is opened, and from now on hooks and wrappers work. */
void sc_process_cuda_is_up(void);

extern _Atomic bool sc_process_is_active;

static inline bool sc_active(void)
{
    return __builtin_expect(atomic_load_explicit(&sc_process_is_active, memory_order_relaxed), 1);
}

/* True while a call of ours is under way on this thread: hooks then stand aside. */
extern __thread int sc_inside;

/* gettid, remembered. */
int32_t sc_thread_id(void);

#endif
