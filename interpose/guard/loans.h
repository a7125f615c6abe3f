/* Loans: memory that a system call of the program is using, and that must not be protected until
 * the call returns.
 *
 * The guard protects pages that an incomplete operation of the device uses. A load or store of the
 * program on such a page faults, and the guard handles that. A system
 * call on a protected page fails instead: with a short count, with EFAULT, or with a datagram that
 * is lost from the queue. So pages on loan are not protected. The thread that makes the call first
 * stores the loan and then checks which pages are protected. The guard first stores what it is
 * about to protect and then checks the loans. So at least one of the two sees the other.
 *
 * A call that is left by siglongjmp, or whose thread is cancelled, does not end its loan. The
 * thread finds such loans when it next lends or protects pages. If the thread has ended, the next
 * thread that comes upon the loan finds out. If the table is full, a loan is not stored, and its
 * pages may be protected.
 *
 * Thread-safe and signal-safe; no lock, no allocation; errno is kept. */

/* Terms (docs/glossary.md):
 *   exempt: of a page: never protected, since Linux uses it at times that nobody foresees
 *   guard: page protection of the memory of operations in flight
 *   loan: memory that a system call uses, unprotected until the call returns
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_GUARD_LOANS_H
#define SC_INTERPOSE_GUARD_LOANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/frames.h"
#include "common/pages.h"

enum { SC_LOANS_PER_CALL = 6 };

/* The loans of one system call. The struct lies in the caller's frame, which `frame` records: the
 * call is under way as long as that function runs (common/frames.h). */
struct sc_loans {
    struct sc_frame frame;
    unsigned count;
    uint16_t ids[SC_LOANS_PER_CALL];
};

/* Adds a loan: the system call will read or write the interval. Beyond SC_LOANS_PER_CALL intervals,
 * the further ones are merged into one that includes what lies between them. */
void sc_loans_add(struct sc_loans *loans, const void *address, size_t size_bytes,
                  enum sc_touch touch);

/* Ends all loans of the call, which has returned. */
void sc_loans_end(struct sc_loans *loans);

/* Makes the caller's store of a loan or of an exempt page visible to the guard before the caller
 * checks which pages are protected (a full memory barrier). */
void sc_loans_order(void);

struct sc_lent {
    uintptr_t address;
    size_t size_bytes;
    enum sc_touch touch;
};

/* Finds the first part of the change that must not be made: pages on loan for a touch that the
 * change would forbid, or pages exempt from protection (interpose/system_calls/exempt_objects.h).
 * Stores it in *lent. False: there is none. */
bool sc_loans_find(const struct sc_access_change *change, struct sc_lent *lent);

#endif
