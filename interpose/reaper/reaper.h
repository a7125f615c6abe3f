/* The reaper: one thread of the library's that judges hazards and gives held memory back.
 *
 * The reaper starts with the first guarded page or the first hazard, and sleeps when there is
 * nothing to do. The libc hooks and the fault handler may not call CUDA, so they hand the reaper
 * what they found. The reaper asks the device whether the operation is still running (observed or
 * latent), and writes the report. It waits for held memory's operations, and then makes the call
 * that the program had asked for. All signals are blocked on this thread, its capture mode is
 * relaxed, and it never touches a stream that captures.
 *
 * The reaper makes no driver call that waits. Freeing pinned memory waits for the whole context,
 * and other threads' copies are blocked meanwhile (docs/driver.md, Q7). So the reaper could wait
 * for work that the program lets go on only after a call that is blocked. Pinned memory therefore
 * goes back inside the program's own waits for the context.
 *
 * Thread safe; signal safe only where said. Locks: the reaper's own, a leaf like the tracker's. The
 * caller may hold no lock of the library's, unless a function says otherwise.
 */
#ifndef SC_INTERPOSE_REAPER_REAPER_H
#define SC_INTERPOSE_REAPER_REAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_certainty;
struct sc_context;
struct sc_hazard;
struct sc_later;
struct sc_op_info;
struct sc_take_down;
struct sc_ticket;

/* How a hazard was found. */
enum sc_finding {
    SC_BY_CALL,  /* a call that takes memory away */
    SC_BY_TOUCH, /* a touch of the program's, just now */
    SC_LATER,    /* what a touch has left */
    SC_BY_ORDER, /* an operation or a synchronous call, just now, that the operation may race with
                  */
};

/* Hands the reaper a hazard with the operation that it depends on; the reaper fills in the
 * certainty, and leaves it out where it is suppressed. Returns at once. With halt_on_error=1 the
 * call waits until the hazard is on disk, and then aborts.
 *
 * Where the host may have learnt of the operation's end in a way that is not seen, only an observed
 * hazard counts. The calling thread asks the device about an order: the reaper may come too late. A
 * touch behind a host function that has not returned is reported when the function has, unless the
 * function is found to have waited for the program (interpose/reaper/excuses.h). So is an order:
 * `later` is what came second there, which may be behind such a function, too. It is NULL for the
 * other findings. */
void sc_reaper_judge(const struct sc_hazard *hazard, const struct sc_op_info *op,
                     enum sc_finding finding, const struct sc_later *later);

/* Writes a hazard that is certain, unless it is suppressed. It is on disk on return; with
 * halt_on_error=1 the process ends. Not in a libc hook. */
void sc_reaper_report(const struct sc_hazard *hazard);

/* The certainty of a hazard over this operation, if it were judged now. False: no hazard that
 * counts. Asks the device on the calling thread; not in a hook that the driver may call. */
bool sc_reaper_finds_hazard(const struct sc_ticket *ticket, enum sc_certainty *certainty);

/* Gives the verdicts that are still due, on the calling thread. A call that waits for the device
 * does so first: afterwards an operation that was running would look as if it had been complete.
 * One load when no verdict is due. Calls the driver: never in a libc hook. */
void sc_reaper_judge_now(void);

/* Gives back the context's pinned memory whose operations are complete. Called where the program
 * itself has just waited for the context: a wait here is one that the program has chosen. One load
 * when nothing is held. */
void sc_reaper_give_back_pinned(const struct sc_context *context);

/* Starts the thread if there is none. False: there will be none. One load when it runs. */
bool sc_reaper_start(void);

/* There is a new hold. */
void sc_reaper_wake(void);

/* Waits until the hold that a take-down made has ended, at most stall_limit, on behalf of the call
 * `api`. False: the hold has not ended. */
bool sc_reaper_wait(const struct sc_take_down *taken, const char *api);

/* The parts of such a wait, for who may hold no lock meanwhile: take the round, look whether what
 * is awaited has ended, and otherwise sleep until the next round or `until_ns` (CLOCK_MONOTONIC).
 * No lock; signal safe; no cancellation point. */
uint32_t sc_reaper_round(void);
void sc_reaper_sleep(uint32_t round, uint64_t until_ns);
/* Has the reaper made its last round? Signal safe. */
bool sc_reaper_has_stopped(void);

/* Waits until no hold that the reaper ends overlaps the interval, at most stall_limit. What is held
 * for a graph there is held no longer. False: something is still held. */
bool sc_reaper_settle(uintptr_t address, size_t size_bytes, const char *api);

/* Some graph names less than before: wakes the thread where memory may have been held for that. */
void sc_reaper_graph_changed(void);

/* The graph that was detached by this id (sc_graphs_detach) is no more. */
void sc_reaper_remove_graph(uint32_t known);

/* Forgets a graph that is no more, as after a capture that failed; 0 is none. Calls no driver, and
 * takes the tracker's lock and the reaper's only. */
void sc_reaper_forget_graph(uintptr_t graph);

/* The program is about to be replaced, or to die: waits until what was found is on disk, as long as
 * at exit. Calls no driver and waits for no lock without end, so the place where the
 * program dies does not matter. */
void sc_reaper_await_verdicts(void);

/* Gives back what is complete, as far as the reaper may: waits until it has looked at all that is
 * held, at most 0.5 s. */
void sc_reaper_collect(void);

/* Waits until what was found before is on disk, as long as at exit; not for touches that a host
 * function may excuse. Calls no driver. */
void sc_reaper_await_judged(void);

/* The process ends: reports what is still to be judged, and stops the thread, which takes at most
 * 0.5 s, and 5 s while hazards are told of. Later hazards are reported at once, as latent. */
void sc_reaper_stop(void);

/* In a forked child: there is no reaper here. */
void sc_reaper_child(void);

#endif
