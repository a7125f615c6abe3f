#include "interpose/base/process.h"

#include <sys/mman.h>
#include <unistd.h>

#include "common/kernel.h"

#include "common/poison.h"

struct sc_options sc_options;
struct sc_process sc_process;
__thread struct sc_frame sc_inside;
__thread struct sc_inside_interruption sc_inside_interruption;

__thread int32_t sc_process_thread_id;
bool sc_process_alone;
static _Atomic pid_t owner; /* the process that used CUDA; in a forked child still the parent */

static _Atomic bool captured; /* a stream has captured, at any time */

/* Is this process a child, by fork or vfork, of the one that used CUDA? `owner` is copied to a
 * child, or shared with it, and still has the parent's id there. */
static bool is_child(void)
{
    pid_t user = atomic_load(&owner);
    return user != 0 && user != getpid();
}

/* Reads the thread's id, and stores it. A child of vfork shares its parent's memory, and must not
 * store its own id there. */
int32_t sc_process_find_thread_id(void)
{
    int32_t found = (int32_t)sc_kernel_call(SYS_gettid);
    if (!is_child())
        sc_process_thread_id = found;
    return found;
}

/* Does the program get the library's wrappers when it looks up functions of the driver? With
 * mode=off it gets the driver's own. */
bool sc_process_wants_wrappers(void)
{
    return sc_options.mode != SC_MODE_OFF;
}

/* Is this the process that used CUDA? A child by fork or vfork is not, though it has the same
 * memory. */
bool sc_process_is_owner(void)
{
    return atomic_load(&owner) == getpid();
}

/* Is this a forked child of a process that used CUDA? While the library is active it is none: the
 * fork makes the library inactive in the child, so that most callers need no system call. */
bool sc_process_is_child(void)
{
    return !sc_active() && is_child();
}

/* Makes Linux clear the page of this state in forked children, so that hooks are inactive there
 * from the first instruction. Pages of another size hold more than the state; there the library's
 * fork handler makes the child inactive. */
static void wipe_in_children(void)
{
    if (sysconf(_SC_PAGESIZE) == (long)sizeof sc_process)
        madvise(&sc_process, sizeof sc_process, MADV_WIPEONFORK);
}

/* Sets which calls may take the quick path (enum sc_simplicity), as bits. */
static void set_simplicity(unsigned simplicity)
{
    atomic_store(&sc_process.simplicity, (unsigned char)simplicity);
}

/* Makes wrappers and hooks active in this process, which has begun to use CUDA. Calls may take the
 * quick path (be simple) unless the option kernels needs to see them, or a stream has captured.
 * That may be in another thread while this runs, so `captured` is read last. */
void sc_process_uses_cuda(bool is_cupti_traced)
{
    atomic_store(&owner, getpid());
    wipe_in_children();
    atomic_store(&sc_process.is_active, true);
    if (sc_options.kernels == SC_KERNELS_OFF)
        set_simplicity((is_cupti_traced ? SC_SIMPLE_BUT_TRACED : SC_SIMPLE) |
                       SC_LAUNCHES_UNWATCHED);
    if (sc_options.kernels != SC_KERNELS_OFF || atomic_load(&captured))
        set_simplicity(SC_LAUNCHES_UNWATCHED);
}

/* A stream captures: from now on no call takes the quick path, since any call may become a node of
 * a graph instead of work. The bit that says whether a module watches launches stays. */
void sc_process_note_capture(void)
{
    atomic_store(&captured, true);
    atomic_fetch_and(&sc_process.simplicity, (unsigned char)SC_LAUNCHES_UNWATCHED);
}

/* Sets whether a module watches launches of GPU kernels; these must then not take the quick path.
 */
void sc_process_watch_launches(bool watches)
{
    if (watches)
        atomic_fetch_and(&sc_process.simplicity, (unsigned char)~SC_LAUNCHES_UNWATCHED);
    else
        atomic_fetch_or(&sc_process.simplicity, SC_LAUNCHES_UNWATCHED);
}

/* Makes wrappers and hooks inactive: in a forked child, and at the end of the process. */
void sc_process_stops(void)
{
    atomic_store(&sc_process.is_active, false);
    set_simplicity(SC_NOT_SIMPLE);
}

/* Forgets the thread's id in a forked child, whose thread has another one than its parent's. */
void sc_process_forked(void)
{
    sc_process_thread_id = 0;
}

/* Records that the driver has loaded the library, which is not preloaded, so that it learns of
 * calls only by CUPTI. */
void sc_process_note_alone(void)
{
    sc_process_alone = true;
}
