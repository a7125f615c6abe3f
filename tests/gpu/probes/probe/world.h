/* What the questions of probe.c find, and words for their answers. */
#ifndef TESTS_GPU_PROBE_WORLD_H
#define TESTS_GPU_PROBE_WORLD_H

#include "../../asking.h"

#define BUSY_MS 100
#define BUFFER_BYTES (4 * MB) /* of every piece of memory */

extern CUfunction spin_kernel;
extern CUstream blocking, nonblocking, nonblocking2;
extern CUdeviceptr dev_a, dev_b;
extern unsigned char *pinned, *pinned2, *pageable;
extern CUevent event, event2;

/* The two kinds of work that keep a stream busy. */
enum work { KERNEL, HOST, WORKS };
extern const char *const work_names[WORKS];
void occupy(enum work work, CUstream stream, unsigned ms);

/* The spin kernel of the current context. */
CUfunction load_spin(void);

/* What a query answered, in words. */
const char *readiness(CUresult rc);

/* "old", "NEW", or how many bytes of either. */
void say_bytes(const unsigned char *bytes, size_t size_bytes, unsigned char old_value);

/* The questions; probe.c has their texts. */
void q1(void), q2(void), q3(void), q4(void), q5(void), q6(void), q7(void), q8(void), q9(void),
    q10(void), q11(void), q12(void), q13(void), q14(void), q15(void), q16(void), q18(void),
    q19(void), q20(void), q21(void), q23(void), q24(void);

#endif
