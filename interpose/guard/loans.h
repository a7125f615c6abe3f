/* Memory that a system call works on, which the guard must not protect until the call returns (on
 * loan to the kernel).
 *
 * A load or store of the program's that meets a guarded page is handled by the guard. The kernel
 * does not wait at a guarded page: its call ends with a short count, with EFAULT, or with a
 * datagram that is gone from the queue. So pages on loan are not guarded. A lender first notes the
 * loan and then looks what is guarded; the guard first notes what it is about to protect and then
 * looks at the loans. So at least one of the two sees the other.
 *
 * A call that is left by siglongjmp, or whose thread is cancelled, does not end its loan. The
 * thread finds such loans when it next lends or guards. If the thread has ended, whoever meets the
 * loan finds out. A loan that finds the table full is not noted, and its pages may be guarded.
 *
 * Thread-safe and signal-safe; no lock, no allocation; errno is kept. */
#ifndef SC_INTERPOSE_GUARD_LOANS_H
#define SC_INTERPOSE_GUARD_LOANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/frames.h"
#include "common/pages.h"

enum { SC_LOANS_PER_CALL = 6 };

/* The loans of one call. The struct lies in the caller's frame, whose note (common/frames.h) tells
 * whether the call is still under way. */
struct sc_loans {
    struct sc_frame frame;
    unsigned count;
    uint16_t ids[SC_LOANS_PER_CALL];
};

/* Notes that the kernel will touch the interval for the program. If the call lends more than
 * SC_LOANS_PER_CALL pieces, the further ones are joined with all that lies between them. */
void sc_loans_add(struct sc_loans *loans, const void *address, size_t size_bytes,
                  enum sc_touch touch);

/* The call is back: gives back all that it has lent. */
void sc_loans_end(struct sc_loans *loans);

/* The barrier between a store that the guard is to see and the look at what is guarded. */
void sc_loans_order(void);

struct sc_lent {
    uintptr_t address;
    size_t size_bytes;
    enum sc_touch touch;
};

/* Is a page of the change on loan, for a touch that the change would forbid, or never to be guarded
 * (interpose/system_calls/exempt_objects.h)? Stores the part of the first such interval that lies
 * in the change. */
bool sc_loans_find(const struct sc_access_change *change, struct sc_lent *lent);

#endif
