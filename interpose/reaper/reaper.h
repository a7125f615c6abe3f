/* The reaper: one thread of the library that decides on hazards (observed or latent), and that
 * frees memory which was held back.
 *
 * A hold is memory that the program has freed while an operation of the device used it; the library
 * makes the real call when the operation is complete. The libc hooks and the fault handler may not
 * call CUDA, so they pass what they found to the reaper. The reaper asks the device whether the
 * operation is still running (observed) or not (latent), and writes the report. It starts with the
 * first guarded page or the first hazard, and sleeps when there is nothing to do. All signals are
 * blocked on this thread, its capture mode is relaxed, and it never touches a stream that captures.
 *
 * The reaper makes no driver call that waits. Freeing pinned memory waits for the whole context,
 * and other threads' copies are blocked meanwhile (docs/driver.md, Q7). So the reaper could wait
 * for work that continues only after a call which is blocked by it. Pinned memory is therefore
 * freed inside the program's own waits for the context.
 *
 * Thread-safe; signal-safe only where stated. Locks: the reaper's, a leaf but for the tracker's.
 * The caller may hold no lock of the library, unless a function says otherwise. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   deallocation: every call that takes memory away (reaper/deallocation.h)
 *   guard: page protection of the memory of operations in flight
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   held: of memory: freed by the program, and kept by the library until the device is done
 *   hold: memory that the program has freed while the device used it, kept until the device is
 *       done
 *   hook: our function in the place of one of the C library's
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   latent: of a hazard: the operation was complete at the event, by luck
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   reaper: the library's thread that judges hazards, reports them and frees held memory
 *   source: the memory that a copy reads
 *   suppressed: healed and counted, and not reported
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
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
    SC_BY_CALL,  /* a call that frees or unmaps memory */
    SC_BY_TOUCH, /* a touch of the program's, just now */
    SC_LATER,    /* by the result of an earlier touch: a changed source */
    SC_BY_ORDER, /* a later operation or synchronous call, just now, that is not ordered with it */
};

/* Passes a hazard and the operation that it depends on to the reaper, which decides its certainty
 * and writes it unless it is suppressed. Returns at once. With halt_on_error=1 waits until the
 * hazard is on disk, and then aborts.
 *
 * If the host may have learnt of the operation's end in a way that the library does not see, the
 * program may be right, and the hazard counts only if the operation is still incomplete. For
 * SC_BY_ORDER the calling thread then queries the device itself: by the time the reaper does, the
 * operation may be complete.
 *
 * If a host function that has not returned may run before the operation, a touch or a missing order
 * is reported after the function has returned, unless the function is found to have waited for the
 * program (interpose/reaper/excuses.h).
 *
 * `later`: the second one of the two operations that are not ordered (SC_BY_ORDER); NULL for the
 * other findings. */
void sc_reaper_enqueue(const struct sc_hazard *hazard, const struct sc_op_info *op,
                       enum sc_finding finding, const struct sc_later *later);

/* Writes a hazard whose certainty (observed or latent) is known, unless it is suppressed. It is on
 * disk on return; with halt_on_error=1 the process ends. Not in a libc hook. */
void sc_reaper_report(const struct sc_hazard *hazard);

/* Decides now, on the calling thread, whether a hazard with this operation would count, and stores
 * whether it is observed or latent. False: it would not, as the host may have learnt of the
 * operation's end. Calls the driver; not in a hook that the driver may call. */
bool sc_reaper_finds_hazard(const struct sc_ticket *ticket, enum sc_certainty *certainty);

/* Called before a call that waits for the device: decides on this thread what the reaper has not
 * come to yet, since after the wait a running operation would look as if it had been complete. One
 * load if there is nothing. Calls the driver: never in a libc hook. */
void sc_reaper_decide_now(void);

/* Called where the program itself has just waited for the context: frees the context's held pinned
 * memory (freed by the program in flight) whose operations are complete, and returns whether there
 * was any. Elsewhere the driver's call would make a thread wait. One load when nothing is held. */
bool sc_reaper_give_back_pinned(const struct sc_context *context);

/* Returns how often pinned memory was given back by sc_reaper_give_back_pinned, on any thread. */
uint64_t sc_reaper_gave_back(void);

/* Starts the reaper's thread if it does not run. False: it cannot be started, so nothing may be
 * protected or held that only the reaper would let go. One load if it runs. */
bool sc_reaper_start(void);

/* Wakes the reaper's thread, or starts it: there is new memory to hold until the device is done, or
 * one such hold may have ended. Makes no driver call; errno is kept. */
void sc_reaper_wake(void);

/* Waits until the device is done with the memory of this deallocation (its hold has ended), at most
 * stall_limit, on behalf of the call `api`. False: it is not. */
bool sc_reaper_await_hold(const struct sc_deallocation *taken, const char *api);

/* Returns the number of the reaper's present pass over held memory. For a caller that must not keep
 * a lock while it waits for a hold: it reads the number, checks whether the hold has ended, and
 * otherwise calls sc_reaper_sleep. No lock; signal-safe; no cancellation point. */
uint32_t sc_reaper_pass_number(void);

/* Sleeps until the reaper has ended this pass, or until `until_ns` (CLOCK_MONOTONIC). Returns at
 * once if it has ended already. No lock; signal-safe; no cancellation point. */
void sc_reaper_sleep(uint32_t pass, uint64_t until_ns);
/* Returns true if the reaper makes no more passes over held memory, so that a wait for one would
 * never end. Signal-safe. */
bool sc_reaper_has_stopped(void);

/* Called before a call of the program's uses memory there that the driver may know as registered
 * although the program has unregistered it: a copy or memset, now or by a node that is added or
 * set, or a new registration. Ends registrations that the library has kept for graphs (SC401), in
 * whatever context. Waits for the context, as the driver's call does, for stall_limit at most: then
 * they are kept on. Under no lock of the library. One load if nothing is held. */
void sc_reaper_end_registrations(uintptr_t address, size_t size_bytes);

/* Waits until no memory of the interval is held by the reaper after a free, at most stall_limit, on
 * behalf of the call `api`, which registers or frees that memory again. What is held for a graph
 * alone is freed. False: something is still held. */
bool sc_reaper_await_no_hold(uintptr_t address, size_t size_bytes, const char *api);

/* Called when a graph has stopped using memory: wakes the reaper if it may hold memory that was
 * freed under a graph. */
void sc_reaper_graph_changed(void);

/* Forgets what the graph or exec used that was detached from its handle under this id
 * (sc_graphs_detach), and wakes the reaper. Called when the driver has destroyed it. */
void sc_reaper_remove_graph(uint32_t known);

/* Forgets what a graph used that is gone already, as after a capture that failed; does nothing for
 * 0. Does not call the driver. Takes the tracker's lock and the reaper's only. */
void sc_reaper_forget_graph(uintptr_t graph);

/* Waits until all hazards that were found are on disk, at most as long as at the end of the
 * process; decides those now that wait for a host function. Called before an exec or the end of the
 * program. Does not call the driver, and waits for no lock without a limit, so it may be called
 * wherever the program ends. */
void sc_reaper_await_all(void);

/* Called by safecopy_release: has the reaper free all held memory whose operations are complete,
 * and waits until it has looked at all, 0.5 s at most. */
void sc_reaper_collect(void);

/* Called before counts or a report that the program asks for: waits until all hazards that were
 * found before are on disk, at most as long as at the end of the process, except touches that a
 * host function may still excuse. Does not call the driver. */
void sc_reaper_await_decided(void);

/* Reports what is still undecided, and stops the thread, at the end of the process. That takes at
 * most 0.5 s, or 5 s while hazards are being written. Later hazards are reported at once, as
 * latent. */
void sc_reaper_stop(void);

/* Resets the state in a forked child, which has no reaper. */
void sc_reaper_child(void);

#endif
