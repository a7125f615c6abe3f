/* What Nsight Systems and its like are shown while the program runs, by NVTX: a domain `safecopy`
 * with a mark for each hazard and a range for each stall, and names for the streams of ours.
 *
 * There is a tool if NVTX_INJECTION64_PATH names one when CUDA comes up, by its name or its whole
 * path (report/libraries.h). A tool's code allocates, takes locks and may call the driver, so it
 * runs on one thread of ours alone, which nobody waits for without end. Everybody else hands over
 * what is to be shown, and the first of that has the thread load the tool. So a mark is made some
 * microseconds behind its hazard, a range begins and ends as late, and all of them are on that
 * thread's row. What finds the queue full is left out.
 *
 * Without a tool each function is one load. Thread safe; safe in libc's hooks and in the handler of
 * a fault. Locks: one of the module's own, a leaf. errno is kept.
 */
#ifndef SC_INTERPOSE_REAPER_NVTX_H
#define SC_INTERPOSE_REAPER_NVTX_H

struct sc_hazard;

/* Starts the thread, if there is a tool and nvtx=auto. CUDA has come up. */
void sc_nvtx_start(void);

/* A mark. The hazard is not suppressed, and its certainty is known. */
void sc_nvtx_mark(const struct sc_hazard *hazard);

/* The calling thread begins, or ends, to wait within a call or touch of the program's. `api` lives
 * for ever. A thread has one range at a time: its next one ends a former one that was left by
 * siglongjmp. */
void sc_nvtx_stall_begin(const char *api);
void sc_nvtx_stall_end(void);

/* Waits until the tool has been shown what there is to show, at most 0.5 s. */
void sc_nvtx_await(void);

/* The process ends: sc_nvtx_await, then ends the ranges that are left and the thread. What comes
 * later is not shown. */
void sc_nvtx_stop(void);

/* In a forked child nothing is shown. */
void sc_nvtx_child(void);

#endif
