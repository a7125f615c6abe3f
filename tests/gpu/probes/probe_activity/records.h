/* What the questions of probe_activity.c share: clients of the activity API, the records that come
 * back in their buffers, and the copies that make them.
 */
#ifndef TESTS_GPU_PROBE_ACTIVITY_RECORDS_H
#define TESTS_GPU_PROBE_ACTIVITY_RECORDS_H

#include "../../asking_cupti.h"

#include <stdatomic.h>

#define BIG (64 * MB) /* of dev and pinned */

/* One of two clients that register callbacks. What its buffers are and what came back in them. */
struct client {
    char name;
    size_t buffer_bytes;
    int limit; /* buffers given at most; negative: no limit */
    bool zero; /* when out of buffers: a size of 0 instead of NULL */
    _Atomic int requested, refused, completed, foreign;
    _Atomic unsigned records, incomplete;
    _Atomic long request_thread, complete_thread;
    bool tell;
};
extern struct client us, them;

/* The records of both, in the order in which they came. */
enum { KEPT = 4096 };
extern struct kept {
    uint64_t start, end;
    uint32_t correlation;
    CUpti_ActivityKind kind;
} kept[KEPT];
extern _Atomic unsigned kept_count;
extern uint64_t origin_ns; /* what times are told from, in CUPTI's clock */
uint64_t cupti_now(void);

void CUPTIAPI us_request(uint8_t **buffer, size_t *size, size_t *max_records);
void CUPTIAPI us_complete(CUcontext context, uint32_t stream_id, uint8_t *buffer, size_t size,
                          size_t valid);
void CUPTIAPI them_request(uint8_t **buffer, size_t *size, size_t *max_records);
void CUPTIAPI them_complete(CUcontext context, uint32_t stream_id, uint8_t *buffer, size_t size,
                            size_t valid);

/* Forgets what came. */
void reset(void);
void tell_client(const struct client *c);

/* Registers us and enables the records of copies and memsets. */
void start_us(void);

/* Subscribes to the callbacks of copies, which are told while ear_tells. */
void listen_to_copies(void);
extern bool ear_tells;

/* The world, beyond that of asking_cupti.h. */
extern CUstream stream2;
extern unsigned char *pageable; /* MB */
CUresult set_up(void);
bool load(void); /* a libcupti with records; what else it lacks is told */
bool begin(void);

/* Keeps a stream busy by a host function, which has begun when this returns. */
void hold_stream(CUstream s, unsigned ms);
extern _Atomic uint64_t held_until_ns;

/* H2D of 4 KB, D2H of 8 KB, a memset; 100 copies and a synchronise. */
CUresult copy_small(void);
CUresult copy_back(void);
CUresult set_device(void);
void hundred_copies(void);

void list_threads(void);

/* The questions. */
void q1(void), q2(void), q3(void), early(void), q4(void), early_clock(void), q5(void), lag(void),
    q6(void), flush_beside(void), calls_beside_free(void), calls_beside_flush(void), q7(void),
    q8(void), yields_plainly(void), yields_flushing(void), comes_second(void), fork_question(void),
    exit_flushing(void), exit_plainly(void), q10(void), q10_shared(void), q11(void);

#endif
