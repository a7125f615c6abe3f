/* The ear of probe_cupti.c: counts the callbacks, and tells them where asked for. */
#ifndef TESTS_GPU_PROBE_CUPTI_EAR_H
#define TESTS_GPU_PROBE_CUPTI_EAR_H

#include "../../asking_cupti.h"

#include <stdatomic.h>

extern struct ear {
    _Atomic unsigned calls[CUPTI_CB_DOMAIN_SIZE];
    bool tell;          /* print each entry */
    bool tell_exit;     /* and exit */
    unsigned linger_ms; /* in each callback */
    bool call_driver;   /* in each callback: cuStreamQuery, which is enabled too */
    bool unsubscribe;   /* in the first callback */
    int unsubscribed;   /* what that answered */
    _Atomic int inside;
    _Atomic bool elsewhere; /* a callback ran on a thread other than `caller` */
    long caller;
} ear;

void hear(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *about);

/* How many callbacks there were since it was asked before. */
unsigned heard(void);

CUresult set_up(void);
bool begin(void); /* set_up() and load_cupti() */
CUptiResult subscribe(void);

#define DRIVER_CBID(name) CUPTI_DRIVER_TRACE_CBID_##name

/* The questions. */
void q1(void), early(void), q2(void), q3(void), q4(void), q5(void), q6(void), q7(void), q8(void),
    q9(void);

#endif
