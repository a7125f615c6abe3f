/* The culprit of a hazard: the call or the instruction that came too early, as it is passed to the
 * functions that report. Plain data. */

/* Terms (docs/glossary.md):
 *   culprit: the call or instruction that came too early
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   site: the address to which a hook or wrapper returns: the program's call
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_REAPER_CULPRIT_H
#define SC_INTERPOSE_REAPER_CULPRIT_H

/* The call or instruction that came too early. `api`: the call's name. `site`: the address to which
 * the call returns or, with a `context` (ucontext_t), the instruction that a signal interrupted.
 * The report's stack begins there; with neither, no stack is taken. */
struct sc_culprit {
    const char *api;
    void *site;
    const void *context;
};

/* The wrapper's call (struct sc_call of interpose/driver/call.h) as the culprit of a hazard; a
 * pointer that is good until the end of the block. */
#define SC_CULPRIT_OF(call) (&(struct sc_culprit){(call)->api, (call)->site, NULL})

#endif
