/* Hooks of functions that start threads. New threads inherit what their creator believes of its
 * mask, and threads that the driver and CUPTI start are recorded as such.
 *
 * Linux delivers a signal that is sent to the process to any thread that does not block it. So a
 * thread that exists only because of the library blocks all signals but those of faults: one that
 * CUPTI starts while only the library uses CUPTI. The driver's threads, and those of a CUPTI that a
 * tool uses, are as they would be without the library. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <threads.h>

#include "cupti_hooks/subscription.h"
#include "interpose/base/compiler.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/loader.h"
#include "interpose/base/masked_threads.h"
#include "interpose/driver/driver_code.h"
#include "interpose/signals/blocked_threads.h"
#include "interpose/signals/sharing.h"
#include "interpose/signals/signal_mask.h"
#include "interpose/signals/signals.h"
#include "interpose/signals/upwards.h"

#include "common/poison.h"

enum { STARTS = 64, TURNS = 10000 };

typedef int c11_create_function(thrd_t *thread, thrd_start_t start, void *argument);

/* What a new thread is told by the one that starts it. `begins_blocked`: Linux has SIGSEGV blocked
 * there at first. `is_drivers`, `is_cuptis`: the driver or CUPTI starts it. */
struct start {
    _Atomic bool taken; /* the entry is in use */
    bool begins_blocked, is_drivers, is_cuptis;
    uintptr_t function; /* what the thread was to run, and with which argument */
    void *argument;
};

static struct start starts[STARTS];

/* Called first on the new thread, with its entry: copies and frees that, unblocks SIGSEGV if it
 * begins blocked, and records the thread if it is the driver's or CUPTI's. Such threads do not
 * count among those that block SIGSEGV. Returns what to call. */
static struct start take_start(void *place)
{
    struct start start = *(struct start *)place;
    atomic_store(&((struct start *)place)->taken, false);
    if (start.begins_blocked)
        sc_signal_mask_begin_blocked();
    if (start.is_drivers)
        sc_driver_code_note_thread();
    if (start.is_drivers || start.is_cuptis)
        sc_blocked_threads_leave_out();
    return start;
}

/* What a new thread runs in place of the program's function (of pthread_create). */
static void *begin_thread(void *place)
{
    struct start start = take_start(place);
    return ((sc_run_function *)start.function)(start.argument);
}

/* What a new thread runs in place of the program's function (of thrd_create). */
static int begin_c11_thread(void *place)
{
    struct start start = take_start(place);
    return ((thrd_start_t)start.function)(start.argument);
}

/* Takes an entry for a new thread, which is free again as soon as that runs. If all are in use,
 * waits for one, up to TURNS times. NULL: there is still none, and the thread begins unknown. */
static struct start *take_free_entry(void)
{
    for (unsigned i = 0; i < STARTS * TURNS; i++) {
        struct start *place = &starts[i % STARTS];
        if (!atomic_exchange(&place->taken, true))
            return place;
        if (i % STARTS == STARTS - 1)
            sched_yield();
    }
    return NULL;
}

/* Would the new thread, without the library, begin with SIGSEGV blocked: by the mask in its
 * attributes, or as it inherits the creator's, which believes it blocked? */
static bool begins_blocked(const pthread_attr_t *attributes)
{
    uint64_t mask;
    if (!sc_sharing_is_on())
        return false;
    if (sc_masked_threads_have_mask(attributes, &mask))
        return mask & SC_SIGNAL_BIT(SIGSEGV);
    return sc_signal_mask_really_blocks_fault();
}

/* Records for a new thread how it is to begin, in the entry that is returned. NULL: there is
 * nothing to record, or no entry for it. The thread then begins as without the library. */
static struct start *note_start(const pthread_attr_t *attributes, uintptr_t function,
                                void *argument)
{
    bool blocked = begins_blocked(attributes);
    bool is_drivers = sc_driver_code_has(function);
    bool is_cuptis = sc_driver_code_is_cupti(function);
    struct start *place = blocked || is_drivers || is_cuptis ? take_free_entry() : NULL;
    if (place) {
        place->begins_blocked = blocked;
        place->is_drivers = is_drivers;
        place->is_cuptis = is_cuptis;
        place->function = function;
        place->argument = argument;
    }
    return place;
}

/* Frees the entry if the thread was not started (`result` of its creation is not 0), as no thread
 * will free it. Returns `result`. */
static int free_if_failed(struct start *place, int result)
{
    if (place && result != 0)
        atomic_store(&place->taken, false);
    return result;
}

/* Does the thread exist only because of the library: is it started in a call of CUPTI that the
 * library makes, or by CUPTI itself (`function`, `caller`) while no tool uses it? Then it must not
 * get signals that are sent to the process. The driver's own threads are there without the library,
 * too. */
static bool is_there_because_of_us(uintptr_t function, uintptr_t caller)
{
    if (sc_cupti_is_asking())
        return !sc_driver_code_has(function);
    return sc_cupti_is_ours() &&
           (sc_driver_code_is_cupti(function) || sc_driver_code_is_cupti(caller));
}

/* Starts a thread that exists only because of the library, with all signals blocked but those of
 * faults and the one by which setuid reaches all threads. Its other attributes are copied. */
static int create_masked(sc_create_function *real, pthread_t *thread,
                         const pthread_attr_t *attributes, sc_run_function *function,
                         void *argument)
{
    pthread_attr_t copy;
    uint64_t mask;
    if (!sc_masked_threads_have_mask(attributes, &mask))
        mask = sc_kernel_mask_block(0);
    mask |= SC_KERNEL_MASK_ALL_BUT_FAULTS & ~SC_KERNEL_MASK_SETXID;
    sc_masked_threads_copy(&copy, attributes);
    int result = sc_masked_threads_create(real, thread, &copy, mask, function, argument);
    pthread_attr_destroy(&copy);
    return result;
}

/* Records the stack that the program provides for a new thread: it may lie in pinned memory, whose
 * pages must not be protected then. */
static void note_stack(const pthread_attr_t *attributes)
{
    void *stack;
    size_t bytes;
    if (attributes && pthread_attr_getstack(attributes, &stack, &bytes) == 0 && stack)
        sc_guard_note_stack((uintptr_t)stack);
}

/* The hook of pthread_create. Has the handler of SIGSEGV be checked soon, since runtimes replace it
 * when they start threads. */
SC_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                             sc_run_function *function, void *argument)
{
    sc_create_function *real = SC_NEXT(sc_create_function *, "pthread_create");
    sc_signals_recheck_soon();
    note_stack(attributes);
    bool is_ours = is_there_because_of_us((uintptr_t)function, (uintptr_t)SC_SITE());
    struct start *place = note_start(attributes, (uintptr_t)function, argument);
    sc_run_function *run = place ? begin_thread : function;
    argument = place ? place : argument;
    return free_if_failed(place, is_ours ? create_masked(real, thread, attributes, run, argument)
                                         : real(thread, attributes, run, argument));
}

/* The hook of thrd_create, which has no attributes. The C library's calls its own pthread_create,
 * past the hook of that. */
SC_EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    c11_create_function *real = SC_NEXT(c11_create_function *, "thrd_create");
    struct start *place = note_start(NULL, (uintptr_t)function, argument);
    return free_if_failed(place, place ? real(thread, begin_c11_thread, place)
                                       : real(thread, function, argument));
}
