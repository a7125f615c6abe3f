/* What lower folders of interpose/ ask of higher ones: a function each, defined once, in the file
 * that is named. Everything else is called downwards only (scripts/check-arrows).
 */
#ifndef SC_INTERPOSE_BASE_UPCALLS_H
#define SC_INTERPOSE_BASE_UPCALLS_H

#include <stdbool.h>

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

/* reaper/copy_times.c: with um=1 what CUPTI has recorded so far is known when this returns, or has
 * not come within 0.1 s. No lock of the library's may be held. */
void sc_copy_times_settle(void);

/* reaper/copy_times.c: wakes the thread. Does not wait, also in a callback of CUPTI's. */
void sc_copy_times_wake(void);

/* postmortem/postmortem.c: the driver has answered the program's call with an error (CUresult). The
 * first error that leaves the context unusable has a line in the report when this returns. No lock
 * of the library should be held. errno is kept. */
void sc_postmortem_failed(const struct sc_call *call, int result);

/* reaper/own_threads.c: makes the call. Where the calling thread may have less of its stack left
 * than the driver takes to make streams and to pin memory, the call is made on a thread of the
 * library's, with the caller's context, and waited for. The caller's signals come meanwhile, on the
 * caller's own stack. False: the system gives no thread, and no call was made. No lock of the
 * library's that a handler may want should be held. errno is kept. */
bool sc_own_threads_make_room(void (*function)(void *argument), void *argument);

#endif
