/* The reaper: one thread of ours that judges hazards and gives held memory back.
 *
 * It starts with the first guarded page or the first hazard and sleeps when there is nothing to do.
 * The libc hooks and the fault handler may not call CUDA, so they hand it what they found: it asks
 * the device whether the operation was still running (observed or latent), writes the report, waits
 * for held memory's operations and then does what the program had asked for. All signals are
 * blocked on it, it never touches a stream that captures, and its own capture mode is relaxed.
 *
 * It makes no driver call that waits. Freeing pinned memory does: the driver waits for the whole
 * context and blocks other threads' copies meanwhile (docs/driver.md, Q7), so a thread of ours that
 * did so could wait for work that the program will only let go on after a call that we block.
 * Pinned memory therefore goes back inside the program's own waits for the context.
 */
#ifndef SC_INTERPOSE_REAPER_REAPER_H
#define SC_INTERPOSE_REAPER_REAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/hazard.h"
#include "track/track.h"

struct sc_ticket;
struct sc_op_info;
struct sc_context;

/* How it was found: by a call, by a touch of the program's just now, by what a touch has left. */
enum sc_finding { SC_BY_CALL, SC_BY_TOUCH, SC_LATER };

/* A hazard with the operation that it depends on; the reaper fills in the certainty. Waits until it
 * is on disk with halt_on_error=1, and then aborts; otherwise returns at once. Where the host may
 * have learnt of the operation's end in a way that is not seen, only one that is observed counts.
 * A touch of what may be behind a host function that has not returned is reported when that has,
 * unless it is found to have waited for the program (interpose/streams/host_functions.h).
 */
void sc_reaper_judge(const struct sc_hazard *hazard, const struct sc_op_info *op,
                     enum sc_finding finding);

/* One that is certain: it is on disk on return, or with halt_on_error=1 the process ends. Not in a
 * libc hook. */
void sc_reaper_report(const struct sc_hazard *hazard);

/* What such a hazard would be called if it were judged now. False: none that counts. Asks the
 * device, on the calling thread, with no lock held; not in a hook that the driver may call. */
bool sc_reaper_ask(const struct sc_ticket *ticket, enum sc_certainty *certainty);

/* Gives the verdicts that are still due, on the calling thread: before it waits for the device,
 * after which an operation that was running would look as if it had been complete. One load when
 * there are none. Never in a libc hook: it calls the driver. */
void sc_reaper_judge_now(void);

/* Gives pinned memory of the context back whose operations are complete. Called where the program
 * itself has just waited for that: a wait here is one that it has already chosen. One load when
 * nothing is held. */
void sc_reaper_give_back_pinned(const struct sc_context *context);

/* Starts the thread if there is none. False: there is none and will be none. One relaxed load when
 * it runs. */
bool sc_reaper_start(void);

/* There is a new hold. */
void sc_reaper_wake(void);

/* Waits until the hold that a take-down made has ended, at most stall_limit. False: it has not. */
bool sc_reaper_wait(const struct sc_take_down *taken);

/* The parts of such a wait, for who may hold no lock while it lasts: take the round, look whether
 * what is awaited has ended, and else sleep until the next round or `until_ns` (CLOCK_MONOTONIC).
 * No lock; async-signal-safe; no cancellation point. */
uint32_t sc_reaper_round(void);
void sc_reaper_sleep(uint32_t round, uint64_t until_ns);
/* There will be no other round. */
bool sc_reaper_has_stopped(void);

/* Waits, as long, until no hold overlaps the interval any more. */
bool sc_reaper_settle(uintptr_t address, size_t size_bytes);

/* There is no such graph any more: a capture that failed leaves none; 0 is none. Calls no driver,
 * and takes the tracker's lock and the reaper's only. */
void sc_reaper_forget_graph(uintptr_t graph);

/* The program is about to be replaced, or to die: waits until what was found is on disk,
 * as long as at exit. Calls no driver and waits for no lock without end, so that the place where it
 * dies does not matter. */
void sc_reaper_await_verdicts(void);

/* The process ends: reports what is still to be judged, and stops. Later hazards are reported at
 * once as latent. */
void sc_reaper_stop(void);

/* In a forked child: there is no reaper here. */
void sc_reaper_child(void);

#endif
