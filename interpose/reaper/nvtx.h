/* Shows hazards in Nsight Systems and the like while the program runs, by NVTX: a domain `safecopy`
 * with a mark for each hazard and a range for each stall (a wait that the library causes), and
 * names for the library's streams.
 *
 * There is a tool if NVTX_INJECTION64_PATH names one when CUDA is initialised, by its name or its
 * whole path (report/libraries.h). A tool's code allocates, takes locks and may call the driver. So
 * only one thread of the library calls it, for which nobody waits without a limit. Every other
 * thread puts what is to be shown into a queue; the first entry has the library's thread load the
 * tool. So marks and ranges come some microseconds late, and all appear on that thread's row. If
 * the queue is full, an entry is dropped.
 *
 * Without a tool each function is one load. Thread-safe; safe in libc's hooks and in the handler of
 * a fault. Locks: one of this module, a leaf. errno is kept. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   hook: our function in the place of one of the C library's
 *   stall: to let a call or touch wait for a copy, at most stall_limit
 *   suppressed: healed and counted, and not reported
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_REAPER_NVTX_H
#define SC_INTERPOSE_REAPER_NVTX_H

struct sc_hazard;

/* Starts the thread if there is a tool and nvtx=auto. Called when CUDA has been initialised. */
void sc_nvtx_start(void);

/* Shows a mark for a hazard that the report has: not suppressed, and its certainty is known. */
void sc_nvtx_mark(const struct sc_hazard *hazard);

/* Begins a range on the profiler's time line: the calling thread waits within a call or touch of
 * the program. `api` lives for ever. A thread has one range at a time: a new one ends a former one
 * that was left by siglongjmp. */
void sc_nvtx_stall_begin(const char *api);

/* Ends the range that sc_nvtx_stall_begin has begun on this thread, when its wait has ended. */
void sc_nvtx_stall_end(void);

/* Waits until the tool has been shown everything, 0.5 s at most: before exec, before abort, and
 * before a context ends whose streams still have to be named. */
void sc_nvtx_await(void);

/* At the end of the process: waits until the tool has been shown everything (0.5 s at most), and
 * ends open ranges and the thread. Later hazards and stalls are not shown. */
void sc_nvtx_stop(void);

/* Resets the state in a forked child, where nothing is shown. */
void sc_nvtx_child(void);

#endif
