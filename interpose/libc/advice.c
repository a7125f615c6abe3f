#include "interpose/libc/advice.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/kernel.h"
#include "common/peek.h"
#include "common/text.h"
#include "interpose/base/compiler.h"
#include "interpose/base/mappings.h"
#include "interpose/guard/door.h"
#include "interpose/losses/losses.h"
#include "interpose/reaper/culprit.h"
#include "report/file.h"
#include "track/track_holds.h"

#include "common/poison.h"

/* Numbers that older headers lack. */
enum {
    DONTNEED_LOCKED = 24,
    GUARD_INSTALL = 102,
    OWN_THREAD = -10000,  /* PIDFD_SELF_THREAD */
    OWN_PROCESS = -10001, /* PIDFD_SELF_THREAD_GROUP */
    SYSTEM_CALL = 440,    /* process_madvise */
    PIECES_MAX = 1024,
    CHUNK = 16, /* pieces that are read at a time */
};

/* Which mappings lose their pages. */
enum loss { LOSES_NONE = 0, LOSES_PRIVATE = 1, LOSES_SHARED = 2, LOSES_ANY = 3 };

/* Returns what kind of memory loses its contents by this advice of madvise. */
static enum loss loss_by(int advice)
{
    switch (advice) {
    case MADV_DONTNEED:
    case DONTNEED_LOCKED:
    case MADV_FREE:
        return LOSES_PRIVATE;
    case MADV_REMOVE:
        return LOSES_SHARED;
    case GUARD_INSTALL:
        return LOSES_ANY;
    default:
        return LOSES_NONE;
    }
}

/* A search of the interval's mappings for one that loses its pages. */
struct loss_search {
    uintptr_t address, end;
    enum loss loss;
    /* some pages are protected by the guard, so Linux's access does not tell the program's */
    bool is_guarded;
    bool found; /* result */
};

/* Does the mapping lose its pages by the advice? `access` (rw-p, rw-s) and `rest` (offset, device,
 * file) are /proc/self/maps' words. A file's private pages that nobody can have changed are read
 * from the file again, and do not count. */
static bool is_lost_in_mapping(const struct loss_search *search, const char *access,
                               const char *rest)
{
    bool is_file = strchr(rest, '/') != NULL;
    if (search->loss == LOSES_PRIVATE && is_file && access[1] != 'w' && !search->is_guarded)
        return false;
    return search->loss & (access[3] == 'p' ? LOSES_PRIVATE : LOSES_SHARED);
}

/* Called for each mapping of the process, in order: notes in the search whether memory of this one
 * is lost by the advice. Returns whether the walk is to go on. */
static bool visit_mapping(void *context, uintptr_t start, uintptr_t end, const char *access,
                          const char *rest)
{
    struct loss_search *search = context;
    if (start < search->end && end > search->address)
        search->found |= is_lost_in_mapping(search, access, rest);
    return start < search->end && !search->found;
}

/* Do any pages of the interval lose their contents by the advice? True also if /proc/self/maps
 * cannot be read. */
static bool is_lost(const void *address, size_t size_bytes, enum loss loss)
{
    uintptr_t start = (uintptr_t)address;
    bool is_guarded = sc_guard_has(address, size_bytes);
    struct loss_search search = {start, start + size_bytes, loss, is_guarded, false};
    return !sc_mappings_each(visit_mapping, &search) || search.found;
}

/* Called before advice of madvise by which pages may lose their contents: reports operations in
 * flight on these pages, waits for them in mode=fix, and stops watching the pages, as the driver
 * goes on using the old ones. Does nothing for other advice, nor if Linux will refuse the call.
 * Allocators give such advice all the time, so the cheap checks come first. */
void sc_advice_before(const void *address, size_t size_bytes, int advice,
                      const struct sc_culprit *culprit)
{
    enum loss loss = loss_by(advice);
    size_t whole = sc_losses_whole_pages(size_bytes);
    if (loss == LOSES_NONE || whole == 0 || !sc_losses_are_pages(address, whole) ||
        !sc_losses_may_be_of_ours(address, whole) ||
        !sc_track_overlaps(&sc_track, (uintptr_t)address, whole) || !is_lost(address, whole, loss))
        return;
    sc_losses_settle(address, whole, culprit);
}

/* ---- process_madvise ---- */

/* Does the process descriptor (of pidfd_open) stand for this process? Two numbers stand for the
 * caller. For a descriptor /proc/self/fdinfo says "Pid:\tN". */
static bool is_own_process(int process)
{
    if (process == OWN_THREAD || process == OWN_PROCESS)
        return true;
    SC_TEXT(path, 64);
    sc_text_format(&path, "/proc/self/fdinfo/%lu", (uint64_t)process);
    return sc_file_number(path.bytes, "\nPid:") == (uint64_t)getpid();
}

/* Prepares each piece of memory of a process_madvise for the advice (sc_advice_before). If the list
 * cannot be read, Linux will refuse the call. */
static void prepare_each(const struct iovec *pieces, size_t count, int advice,
                         const struct sc_culprit *culprit)
{
    struct iovec some[CHUNK];
    for (size_t done = 0; done < count; done += CHUNK) {
        size_t now = count - done < CHUNK ? count - done : CHUNK;
        if (!sc_peek_anyhow(some, (uintptr_t)(pieces + done), now * sizeof *some))
            return;
        for (size_t i = 0; i < now; i++)
            sc_advice_before(some[i].iov_base, some[i].iov_len, advice, culprit);
    }
}

SC_EXPORT ssize_t process_madvise(int process, const struct iovec *pieces, size_t count, int advice,
                                  unsigned flags);
/* The hook of process_madvise. That is the system call and nothing else, which is made here, as
 * older C libraries lack the function. Linux 6.13 and later takes advice by which pages are lost,
 * but only for the process itself. Calls that Linux refuses (flags, too many pieces) need no
 * preparation. */
SC_EXPORT ssize_t process_madvise(int process, const struct iovec *pieces, size_t count, int advice,
                                  unsigned flags)
{
    if (loss_by(advice) != LOSES_NONE && flags == 0 && count <= PIECES_MAX &&
        sc_losses_are_watched() && is_own_process(process))
        prepare_each(pieces, count, advice,
                     &(struct sc_culprit){"process_madvise", SC_SITE(), NULL});
    ssize_t result = sc_kernel_call(SYSTEM_CALL, process, pieces, count, advice, flags);
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}
