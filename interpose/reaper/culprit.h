/* Who came too early: plain data. */
#ifndef SC_INTERPOSE_REAPER_CULPRIT_H
#define SC_INTERPOSE_REAPER_CULPRIT_H

/* The call that came too early. `site` is where the hook returns to. With a `context` (ucontext_t)
 * `site` is the instruction that a signal interrupted there. Without either no stack is taken. */
struct sc_culprit {
    const char *api;
    void *site;
    const void *context;
};

/* Of a wrapper's call (interpose/driver/call.h). */
#define SC_CULPRIT_OF(call) (&(struct sc_culprit){(call)->api, (call)->site, NULL})

#endif
