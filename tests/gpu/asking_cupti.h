/* What the probes of libcupti share beyond asking.h: the library itself, and a small world.
 *
 * The libcupti is the one that the variable PROBE_CUPTI names; else libcupti.so.13 is looked for in
 * the usual places. Its calls are reached by `cupti.member`, which is NULL where a version lacks
 * it. Results are told as "CUPTI n".
 */
#ifndef TESTS_GPU_ASKING_CUPTI_H
#define TESTS_GPU_ASKING_CUPTI_H

#include "asking.h"

#include <cuda_runtime_api.h>
#include <cupti.h>

/* X(member, function) */
#define CUPTI_CALLBACK_CALLS(X)                                                                    \
    X(subscribe, cuptiSubscribe)                                                                   \
    X(subscribe_v2, cuptiSubscribe_v2)                                                             \
    X(unsubscribe, cuptiUnsubscribe)                                                               \
    X(enable_callback, cuptiEnableCallback)                                                        \
    X(enable_domain, cuptiEnableDomain)                                                            \
    X(version, cuptiGetVersion)
#define CUPTI_ACTIVITY_CALLS(X)                                                                    \
    X(reg, cuptiActivityRegisterCallbacks)                                                         \
    X(enable, cuptiActivityEnable)                                                                 \
    X(disable, cuptiActivityDisable)                                                               \
    X(flush, cuptiActivityFlushAll)                                                                \
    X(flush_period, cuptiActivityFlushPeriod)                                                      \
    X(next, cuptiActivityGetNextRecord)                                                            \
    X(dropped, cuptiActivityGetNumDroppedRecords)                                                  \
    X(get, cuptiActivityGetAttribute)                                                              \
    X(set, cuptiActivitySetAttribute)                                                              \
    X(timestamps, cuptiActivityRegisterTimestampCallback)                                          \
    X(configure_managed, cuptiActivityConfigureUnifiedMemoryCounter)                               \
    X(timestamp, cuptiGetTimestamp)                                                                \
    X(node_id, cuptiGetGraphNodeId)                                                                \
    X(finalize, cuptiFinalize)

struct cupti {
    void *library;
#define CUPTI_MEMBER(member, function) __typeof__(&function) member;
    CUPTI_CALLBACK_CALLS(CUPTI_MEMBER)
    CUPTI_ACTIVITY_CALLS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
};
extern struct cupti cupti;

/* The path that `variable` holds, else where libcupti is. */
const char *cupti_path(const char *variable);

/* False, and told, when there is no such library or it has no callbacks. */
bool load_cupti_from(struct cupti *c, const char *path);
bool load_cupti(void);

CUptiResult check_cupti(const char *call, CUptiResult rc);
#define TRY_CUPTI(call) check_cupti(#call, (call))

/* Turn on callbacks of `subscriber`; a failure is told. */
extern CUpti_SubscriberHandle subscriber;
void enable(CUpti_CallbackDomain domain, CUpti_CallbackId cbid);
void enable_domain(CUpti_CallbackDomain domain);

/* The world that the questions find. */
extern CUmodule module;
extern CUfunction empty_kernel;
extern CUstream stream; /* non-blocking */
extern CUdeviceptr dev;
extern unsigned char *pinned;

/* Makes it, with memory of this size, in the primary context. */
CUresult set_up_with(size_t memory_bytes);

/* The least that `measure` returns, of so many rounds; the stream is idle before each. */
double best_of(unsigned rounds, double (*measure)(void));
void tell_best(const char *name, unsigned rounds, double (*measure)(void));

/* Nanoseconds to issue a launch of the empty kernel, and a copy of 4 KB; each the mean of CALLS. */
enum { CALLS = 200 };
double launch_ns(void);
double copy_ns(void);

long thread_id(void);

#endif
