/* The call or instruction that came too early: plain data. */
#ifndef SC_INTERPOSE_REAPER_CULPRIT_H
#define SC_INTERPOSE_REAPER_CULPRIT_H

/* `api` is the call. `site` is the address to which its hook returns; with a `context` (ucontext_t)
 * it is the instruction that a signal interrupted there. Without either no stack is taken. */
struct sc_culprit {
    const char *api;
    void *site;
    const void *context;
};

/* The culprit that is a wrapper's call (interpose/driver/call.h). */
#define SC_CULPRIT_OF(call) (&(struct sc_culprit){(call)->api, (call)->site, NULL})

#endif
