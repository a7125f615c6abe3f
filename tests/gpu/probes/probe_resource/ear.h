/* The ear of probe_resource.c: tells what libcupti announces, and gives handles names.
 *
 * begin() makes the world of asking_cupti.h and listens to the driver, resource and synchronise
 * domains; LINE tells what is announced while some calls are made.
 */
#ifndef TESTS_GPU_PROBE_RESOURCE_EAR_H
#define TESTS_GPU_PROBE_RESOURCE_EAR_H

#include "../../asking_cupti.h"

#include <pthread.h>
#include <stdatomic.h>

extern struct ear {
    bool tell;
    _Atomic bool work_is_done; /* the host function that is waited for has ended */
    bool watch_work;
    bool ask_inside; /* call the driver in resource and synchronise callbacks */
    long caller;
    _Atomic unsigned calls;
    void (*meanwhile)(void); /* called in this callback, if any */
    CUpti_CallbackDomain wait_domain;
    CUpti_CallbackId wait_cbid;
    bool has_other; /* a thread whose own calls are not told */
    pthread_t other;
} ear;

/* A handle is told by its name: the one it is given here, else a letter of its kind and a number.
 */
void name_as(const void *handle, const char *name);
const char *name_of(const void *handle, const char *kind);

CUresult set_up(void);
bool subscribe(void);
bool listen_to_all(void);
bool begin(void);

/* A line: what was announced of some calls. */
#define LINE(title, ...)                                                                           \
    do {                                                                                           \
        say("Q%s %s:", asked(), (title));                                                          \
        ear.tell = true;                                                                           \
        __VA_ARGS__;                                                                               \
        ear.tell = false;                                                                          \
        end_line();                                                                                \
    } while (0)

/* 30 ms of work; ear.work_is_done when it has ended. */
void keep_busy(CUstream which);

CUresult make_context(CUcontext *context);
CUgraph captured(CUstreamCaptureMode mode); /* a copy and a kernel */

/* The questions. */
void q10(void), q10_inside(void), q10_inside_capture(void), q11_early(void), q11_contexts(void),
    q11_stream_busy(void), q11_primary(void), q11_runtime(void), q11_green(void), q12_plain(void),
    q12_copies(void), q12_frees(void), q12_contexts(void), q13(void), q13_alone(void),
    beside_stream_created(void), beside_stream_destroyed(void), beside_context_created(void),
    beside_context_destroyed(void), beside_graph_destroyed(void), beside_node_created(void),
    beside_exec_destroyed(void), beside_stream_waited_for(void), beside_context_waited_for(void),
    beside_free(void);

#endif
