#include "interpose/protect.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/loans.h"
#include "interpose/mappings.h"
#include "track/track.h"

#include "track/poison.h"

static pthread_mutex_t protect_lock = PTHREAD_MUTEX_INITIALIZER;

static struct sc_guards *guards(void)
{
    return &sc_track.inflight.guards;
}

static void lock(void)
{
    sc_track_inside++;
    atomic_signal_fence(memory_order_seq_cst);
    pthread_mutex_lock(&protect_lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&protect_lock);
    atomic_signal_fence(memory_order_seq_cst);
    sc_track_inside--;
}

/* Past our own wrapper of mprotect. False: the kernel refuses it. */
static bool protect(uintptr_t address, size_t size_bytes, enum sc_access access)
{
    static const long protections[] = {
        [SC_ACCESS_NONE] = PROT_NONE,
        [SC_ACCESS_READ] = PROT_READ,
        [SC_ACCESS_ALL] = PROT_READ | PROT_WRITE,
    };
    return size_bytes == 0 || syscall(SYS_mprotect, address, size_bytes, protections[access]) == 0;
}

/* ---- a mapping too many ---- */

/* What the kernel refuses to let go of: to part pages from their neighbours takes mappings, and to
 * let go of all of them together takes none. No two of the runs overlap or touch. With the lock, or
 * in the child of a fork. */
static struct {
    unsigned count;
    struct run {
        uintptr_t address, end;
    } runs[SC_SPANS_MAX];
} refused;

static void note_refused(const struct sc_guard_change *change)
{
    struct run all = {change->address, change->address + change->size_bytes};
    for (unsigned i = 0; i < refused.count;) {
        struct run *run = &refused.runs[i];
        if (run->address > all.end || run->end < all.address) {
            i++;
            continue;
        }
        all.address = run->address < all.address ? run->address : all.address;
        all.end = run->end > all.end ? run->end : all.end;
        *run = refused.runs[--refused.count];
    }
    if (refused.count < SC_SPANS_MAX)
        refused.runs[refused.count++] = all;
}

static void let_go_of_refused(void)
{
    for (; refused.count; refused.count--) {
        const struct run *run = &refused.runs[refused.count - 1];
        protect(run->address, run->end - run->address, SC_ACCESS_ALL);
    }
}

/* A page that stayed inaccessible would be taken for the program's own mistake: nothing is guarded
 * any more, and until that is done others wait for it. */
static void give_up(const struct sc_guard_change *change)
{
    if (refused.count == 0)
        sc_track_keep_guards_busy(&sc_track, true);
    sc_track_unguard_all(&sc_track);
    note_refused(change);
}

static void end_giving_up(void)
{
    if (refused.count == 0)
        return;
    let_go_of_refused();
    sc_track_keep_guards_busy(&sc_track, false);
}

/* ---- settling ---- */

/* Pages on loan, where the kernel would find forbidden what it does for the program, are guarded by
 * nothing any more, as after a touch beside an operation's bytes. */
static bool tell(struct sc_guard_change change)
{
    uintptr_t mask = guards()->page_mask;
    uintptr_t end = change.address + change.size_bytes;
    bool told = true;
    for (struct sc_lent lent; change.address < end && sc_loans_find(&change, &lent);) {
        sc_track_let_go(&sc_track, lent.address, lent.size_bytes, lent.touch, true);
        told &= protect(change.address, (lent.address & ~mask) - change.address, change.access);
        change.address = (lent.address + lent.size_bytes + mask) & ~mask;
        change.size_bytes = end - change.address;
    }
    return protect(change.address, change.size_bytes, change.access) && told;
}

static void settle_locked(void)
{
    struct sc_guard_change change;
    while (sc_track_settle_guards(&sc_track, &change))
        if (change.size_bytes && !tell(change) && change.access != SC_ACCESS_NONE)
            give_up(&change);
    end_giving_up();
}

void sc_protect_settle(void)
{
    int saved = errno;
    lock();
    settle_locked();
    unlock();
    errno = saved;
}

void sc_protect_mend(uintptr_t address)
{
    int saved = errno;
    uintptr_t mask = guards()->page_mask;
    lock();
    settle_locked();
    protect(address & ~mask, mask + 1, sc_track_guarded_access(&sc_track, address));
    unlock();
    errno = saved;
}

/* With the pages in line with what the tracker knows, nobody else can protect one meanwhile. */
bool sc_protect_is_accessible(uintptr_t address, bool write)
{
    lock();
    settle_locked();
    bool accessible =
        sc_grid_point(&guards()->grid, address) != 0 || sc_mappings_allow(address, write);
    unlock();
    return accessible;
}

void sc_protect_let_through(uintptr_t address)
{
    protect(address & ~guards()->page_mask, guards()->page_mask + 1, SC_ACCESS_ALL);
}

bool sc_protect_inherited(uintptr_t address)
{
    struct sc_guard_change change;
    bool found = false;
    refused.count = 0; /* the parent's */
    for (uint32_t span = 0; sc_guards_inherited(guards(), &span, &change);) {
        if (!protect(change.address, change.size_bytes, change.access))
            note_refused(&change);
        found |= address - change.address < change.size_bytes;
    }
    let_go_of_refused();
    return found;
}
