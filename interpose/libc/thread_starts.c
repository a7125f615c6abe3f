/* Threads begin: they inherit what the program believes of its mask, and those that the driver
 * starts are known from then on. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/driver/driver_code.h"
#include "interpose/signals/sharing.h"
#include "interpose/signals/signal_mask.h"

#include "track/poison.h"

enum { STARTS = 64, TURNS = 10000 };

typedef void *start_function(void *argument);
typedef int create_function(pthread_t *thread, const pthread_attr_t *attributes,
                            start_function *start, void *argument);
typedef int attribute_function(const pthread_attr_t *attributes, sigset_t *mask);

struct start {
    _Atomic bool taken;
    bool begins_blocked, is_drivers;
    start_function *function;
    void *argument;
};

static struct start starts[STARTS];

static void *begin(void *argument)
{
    struct start start = *(struct start *)argument;
    atomic_store(&((struct start *)argument)->taken, false);
    if (start.begins_blocked)
        sc_signal_mask_begin_blocked();
    if (start.is_drivers)
        sc_driver_code_owns_thread();
    return start.function(start.argument);
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
    return sc_signal_mask_blocks_fault();
}

/* A thread with nothing to note begins as it would without us. */
SC_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                             start_function *function, void *argument)
{
    create_function *real = SC_NEXT(create_function *, "pthread_create");
    bool blocked = begins_blocked(attributes);
    bool is_drivers = sc_driver_code_holds((uintptr_t)function);
    struct start *place = blocked || is_drivers ? take_place() : NULL;
    if (!place)
        return real(thread, attributes, function, argument);
    place->begins_blocked = blocked;
    place->is_drivers = is_drivers;
    place->function = function;
    place->argument = argument;
    int result = real(thread, attributes, begin, place);
    if (result != 0)
        atomic_store(&place->taken, false);
    return result;
}
