/* The reaper: one thread of the library's that judges hazards and gives held memory back.
 *
 * The reaper starts with the first guarded page or the first hazard, and sleeps when there is
 * nothing to do. The libc hooks and the fault handler may not call CUDA, so they hand the reaper
 * what they found. The reaper asks the device whether the operation is still running (observed) or
 * not (latent), and writes the report. When the operations on held memory are complete, it makes
 * the call that the program had asked for. All signals are blocked on this thread, its capture mode
 * is relaxed, and it never touches a stream that captures.
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
struct sc_deallocation;
struct sc_ticket;

/* How a hazard was found. */
enum sc_finding {
    SC_BY_CALL,  /* a call that takes memory away */
    SC_BY_TOUCH, /* a touch of the program's, just now */
    SC_LATER,    /* by what an earlier touch has left: a changed source */
    SC_BY_ORDER, /* a later operation or synchronous call, just now, that it may race with */
};

/* Hands the reaper a hazard with the operation that it depends on; the reaper fills in the
 * certainty, and leaves it out where it is suppressed. Returns at once. With halt_on_error=1 the
 * call waits until the hazard is on disk, and then aborts.
 *
 * If the host may have learnt of the operation's end in a way that is not seen, the hazard counts
 * only if the operation is still incomplete. For SC_BY_ORDER the calling thread then asks the
 * device itself, as the reaper may come too late.
 *
 * A touch or an order behind a host function that has not returned is reported after the function
 * has returned, unless that is found to have waited for the program (interpose/reaper/excuses.h).
 *
 * `later` is what came second in an order (SC_BY_ORDER); NULL for the other findings. */
void sc_reaper_enqueue(const struct sc_hazard *hazard, const struct sc_op_info *op,
                       enum sc_finding finding, const struct sc_later *later);

/* Writes a hazard that is certain, unless it is suppressed. It is on disk on return; with
 * halt_on_error=1 the process ends. Not in a libc hook. */
void sc_reaper_report(const struct sc_hazard *hazard);

/* The certainty of a hazard with this operation, if it were judged now. False: the hazard would not
 * count. Asks the device on the calling thread; not in a hook that the driver may call. */
bool sc_reaper_finds_hazard(const struct sc_ticket *ticket, enum sc_certainty *certainty);

/* Decides, on the calling thread, the certainty of hazards that the reaper has not come to yet. To
 * be called before a call that waits for the device: afterwards an operation that was running would
 * look as if it had been complete. One load if there are none. Calls the driver: never in a libc
 * hook. */
void sc_reaper_decide_now(void);

/* Gives back the context's pinned memory whose operations are complete, and returns whether there
 * was any. Called where the program itself has just waited for the context: a wait here is one that
 * the program has chosen. One load when nothing is held. */
bool sc_reaper_give_back_pinned(const struct sc_context *context);

/* How often pinned memory was given back so, by any thread. */
uint64_t sc_reaper_gave_back(void);

/* Starts the reaper if it does not run. False: it cannot be started. One load if it runs. */
bool sc_reaper_start(void);

/* Wakes the reaper, as there is a new hold. */
void sc_reaper_wake(void);

/* Waits until the hold that a take-down made has ended, at most stall_limit, on behalf of the call
 * `api`. False: the hold has not ended. */
bool sc_reaper_await_hold(const struct sc_deallocation *taken, const char *api);

/* The parts of such a wait, for a caller that may hold no lock meanwhile: takes the number of the
 * round. The caller then looks whether what it awaits has ended, and otherwise sleeps. No lock;
 * signal safe; no cancellation point. */
uint32_t sc_reaper_pass_number(void);

/* Sleeps until the reaper has ended the round, or until `until_ns` (CLOCK_MONOTONIC). */
void sc_reaper_sleep(uint32_t round, uint64_t until_ns);
/* Has the reaper made its last round? Signal safe. */
bool sc_reaper_has_stopped(void);

/* Waits until no hold that the reaper ends overlaps the interval, at most stall_limit, on behalf of
 * the call `api`. Memory there that is held for a graph is not held any longer. False: something is
 * still held. */
bool sc_reaper_await_no_hold(uintptr_t address, size_t size_bytes, const char *api);

/* Wakes the thread if memory may have been held for a graph, since a graph names less than before.
 */
void sc_reaper_graph_changed(void);

/* Forgets the graph that was detached under this id (sc_graphs_detach). */
void sc_reaper_remove_graph(uint32_t known);

/* Forgets a graph that is no more, as after a capture that failed; 0 is none. Calls no driver, and
 * takes the tracker's lock and the reaper's only. */
void sc_reaper_forget_graph(uintptr_t graph);

/* Called before an exec or the end of the program: waits until all hazards that were found are on
 * disk, as long as at exit; verdicts that are kept back are given now. Calls no driver and waits
 * for no lock without a limit, so it does not matter where the program dies. */
void sc_reaper_await_all(void);

/* Has the reaper give back what is complete: waits until it has looked at all holds, 0.5 s at most.
 */
void sc_reaper_collect(void);

/* Waits until all hazards that were found before are on disk, as long as at exit, except touches
 * that a host function may still excuse. Calls no driver. */
void sc_reaper_await_decided(void);

/* The process ends: reports what is still to be judged, and stops the thread. That takes at most
 * 0.5 s, or 5 s while hazards are being told. Later hazards are reported at once, as latent. */
void sc_reaper_stop(void);

/* In a forked child: there is no reaper here. */
void sc_reaper_child(void);

#endif
