/* Functions of higher folders of interpose/ that lower ones call. Each comment names the file with
 * the definition. Every other call goes downwards (scripts/check-arrows). */

/* Terms (docs/glossary.md):
 *   detour: an operation of the legacy stream that the library issues on a private stream
 *   hook: our function in the place of one of the C library's
 *   reaper: the library's thread that judges hazards, reports them and frees held memory
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_BASE_UPCALLS_H
#define SC_INTERPOSE_BASE_UPCALLS_H

#include <stdbool.h>

struct sc_call;
struct sc_stream_record;

/* entry/life.c: reads the options and reports what is wrong with them. Called at the first sign of
 * CUDA; later calls do nothing. */
void sc_life_start(void);

/* entry/life.c: opens the report and makes hooks and wrappers active, when cuInit has succeeded. */
void sc_life_cuda_is_up(void);

/* entry/life.c: writes the summary, when the process ends. Returns the exit status: `status`, or
 * the one that the option strict requires. May be called again. */
int sc_life_finish(int status);

/* entry/life.c: writes what was found to disk, since the program may now be replaced, or die
 * without any of the library's handlers. */
void sc_life_may_vanish(void);

/* calls/context_calls.c: forgets the contexts that CUPTI has reported as ended. One load if there
 * is none. */
void sc_context_calls_bury_ended(void);

/* capture/detours.c: makes the calling thread's per-thread default stream wait for a detour (work
 * that another thread has put on a stream of the library), unless it captures. */
void sc_detours_pay(struct sc_stream_record *stream);

/* reaper/nvtx.c: gives a stream of the library a name that tools show; stream and name live as long
 * as the context. One load without a tool. May be called with locks of the library held. */
void sc_nvtx_name_stream(const void *stream, const char *name);

/* reaper/copy_times.c: with um=1, waits until CUPTI has delivered the records that it has by now,
 * 0.1 s at most. No lock of the library may be held. */
void sc_copy_times_flush(void);

/* reaper/copy_times.c: wakes the thread that reads CUPTI's records. Does not wait; also for
 * callbacks of CUPTI. */
void sc_copy_times_wake(void);

/* postmortem/postmortem.c: records that the driver has returned an error (CUresult) to the
 * program's call. The first error that leaves the context unusable is written to the report before
 * this returns. No lock of the library should be held. errno is kept. */
void sc_postmortem_failed(const struct sc_call *call, int result);

/* reaper/library_threads.c: calls function(argument). If the calling thread may have less stack
 * left than the driver needs to create streams and to pin memory, a thread of the library makes the
 * call with the caller's context, and the caller waits for it. The caller's signals are handled
 * meanwhile, on its own stack. False: no thread could be created, and no call was made. No lock of
 * the library that a handler may want should be held. errno is kept. */
bool sc_library_threads_call(void (*function)(void *argument), void *argument);

#endif
