/* Threads begin: they inherit what the program believes of its mask, and those that the driver and
 * CUPTI start are known from then on. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <threads.h>

#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/driver/driver_code.h"
#include "interpose/signals/blocked_threads.h"
#include "interpose/signals/sharing.h"
#include "interpose/signals/signal_mask.h"

#include "track/poison.h"

enum { STARTS = 64, TURNS = 10000 };

typedef void *start_function(void *argument);
typedef int create_function(pthread_t *thread, const pthread_attr_t *attributes,
                            start_function *start, void *argument);
typedef int c11_create_function(thrd_t *thread, thrd_start_t start, void *argument);
typedef int attribute_function(const pthread_attr_t *attributes, sigset_t *mask);

struct start {
    _Atomic bool taken;
    bool begins_blocked, is_drivers, is_cuptis;
    uintptr_t function;
    void *argument;
};

static struct start starts[STARTS];

/* The thread begins. Returns what to call. */
static struct start take_start(void *place)
{
    struct start start = *(struct start *)place;
    atomic_store(&((struct start *)place)->taken, false);
    if (start.begins_blocked)
        sc_signal_mask_begin_blocked();
    if (start.is_drivers)
        sc_driver_code_owns_thread();
    if (start.is_drivers || start.is_cuptis)
        sc_blocked_threads_leave_out();
    return start;
}

static void *begin(void *place)
{
    struct start start = take_start(place);
    return ((start_function *)start.function)(start.argument);
}

static int begin_c11(void *place)
{
    struct start start = take_start(place);
    return ((thrd_start_t)start.function)(start.argument);
}

/* A place is free again as soon as its thread runs. NULL: there is none, and the thread is one of
 * which nothing is known. */
static struct start *take_place(void)
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

/* The mask in the attributes, which the thread really has at first, or its creator's. */
static bool begins_blocked(const pthread_attr_t *attributes)
{
    sigset_t mask;
    if (!sc_sharing_is_on())
        return false;
    attribute_function *get_mask = SC_NEXT(attribute_function *, "pthread_attr_getsigmask_np");
    if (attributes && get_mask && get_mask(attributes, &mask) == 0)
        return sigismember(&mask, SIGSEGV) == 1;
    return sc_signal_mask_really_blocks_fault();
}

/* NULL: there is nothing to note, and the thread begins as it would without us. */
static struct start *note_start(const pthread_attr_t *attributes, uintptr_t function,
                                void *argument)
{
    bool blocked = begins_blocked(attributes);
    bool is_drivers = sc_driver_code_holds(function);
    bool is_cuptis = sc_driver_code_is_cupti(function);
    struct start *place = blocked || is_drivers || is_cuptis ? take_place() : NULL;
    if (place) {
        place->begins_blocked = blocked;
        place->is_drivers = is_drivers;
        place->is_cuptis = is_cuptis;
        place->function = function;
        place->argument = argument;
    }
    return place;
}

static int started(struct start *place, int result)
{
    if (place && result != 0)
        atomic_store(&place->taken, false);
    return result;
}

SC_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                             start_function *function, void *argument)
{
    create_function *real = SC_NEXT(create_function *, "pthread_create");
    struct start *place = note_start(attributes, (uintptr_t)function, argument);
    return started(place, place ? real(thread, attributes, begin, place)
                                : real(thread, attributes, function, argument));
}

SC_EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    c11_create_function *real = SC_NEXT(c11_create_function *, "thrd_create");
    struct start *place = note_start(NULL, (uintptr_t)function, argument);
    return started(place,
                   place ? real(thread, begin_c11, place) : real(thread, function, argument));
}
