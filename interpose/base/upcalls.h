/* Functions of higher folders of interpose/ that lower ones call. Each is defined in the file that
 * its comment names. Every other call goes downwards (scripts/check-arrows). */
#ifndef SC_INTERPOSE_BASE_UPCALLS_H
#define SC_INTERPOSE_BASE_UPCALLS_H

#include <stdbool.h>

struct sc_call;
struct sc_stream_record;

/* entry/life.c: reads the options and says what is wrong with them, in its first call, which comes
 * at the first sign of CUDA. */
void sc_life_start(void);

/* entry/life.c: cuInit succeeded. The report is opened, and from now on hooks and wrappers work. */
void sc_life_cuda_is_up(void);

/* entry/life.c: the process ends now. Writes the summary. Returns the status to end with: `status`,
 * or the one that strict wants. May be called again. */
int sc_life_finish(int status);

/* entry/life.c: writes what was found to disk, since the program may now be replaced or die without
 * any of our handlers. */
void sc_life_may_vanish(void);

/* calls/context_calls.c: forgets the contexts of which CUPTI has told that the driver has ended
 * them. One load if there is none. */
void sc_context_calls_bury_ended(void);

/* capture/detours.c: the calling thread's per-thread default stream waits for a detour of another
 * thread's, unless it captures. */
void sc_detours_pay(struct sc_stream_record *stream);

/* reaper/nvtx.c: gives a stream of ours a name that tools show; stream and name live as long as the
 * context. One load without a tool. May be called with locks of the library's held. */
void sc_nvtx_name_stream(const void *stream, const char *name);

/* reaper/copy_times.c: with um=1, waits until what CUPTI has recorded so far is known, for 0.1 s at
 * most. No lock of the library's may be held. */
void sc_copy_times_flush(void);

/* reaper/copy_times.c: wakes the thread that reads CUPTI's records. Does not wait; also for
 * callbacks of CUPTI's. */
void sc_copy_times_wake(void);

/* postmortem/postmortem.c: notes that the driver has answered the program's call with an error
 * (CUresult). The first error that leaves the context unusable is written to the report before this
 * returns. No lock of the library should be held. errno is kept. */
void sc_postmortem_failed(const struct sc_call *call, int result);

/* reaper/library_threads.c: calls function(argument). Where the calling thread may have less stack
 * left than the driver needs to make streams and to pin memory, the call is made on a thread of the
 * library's, with the caller's context, and waited for. The caller's signals come meanwhile, on the
 * caller's own stack. False: the system gives no thread, and no call was made. No lock of the
 * library's that a handler may want should be held. errno is kept. */
bool sc_library_threads_call(void (*function)(void *argument), void *argument);

#endif
