#include "interpose/base/masked_threads.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "interpose/base/kernel_mask.h"
#include "interpose/base/loader.h"

#include "common/poison.h"

typedef int set_function(pthread_attr_t *attributes, const sigset_t *mask);
typedef int get_function(const pthread_attr_t *attributes, sigset_t *mask);

/* Creates a thread that begins with this signal mask. It is for threads of the library, in which no
 * handler of the program may run. An older C library cannot store a mask in the attributes; there
 * the creator has the mask for the time of the call, as a thread inherits it. */
int sc_masked_threads_create(sc_create_function *create, pthread_t *thread,
                             pthread_attr_t *attributes, uint64_t mask, sc_run_function *run,
                             void *argument)
{
    set_function *set_mask = SC_NEXT(set_function *, "pthread_attr_setsigmask_np");
    sigset_t set;
    sigemptyset(&set);
    memcpy(&set, &mask, sizeof mask);
    bool has_mask = set_mask && set_mask(attributes, &set) == 0;
    /* Glibc before 2.32: the thread inherits its creator's mask. */
    uint64_t before = has_mask ? 0 : sc_kernel_mask_set(mask);
    int result = create(thread, attributes, run, argument);
    if (!has_mask)
        sc_kernel_mask_set(before);
    return result;
}

/* Stores the signal mask that the attributes give a new thread. False: they give none, or this C
 * library has no such attribute (glibc before 2.32). */
bool sc_masked_threads_have_mask(const pthread_attr_t *attributes, uint64_t *mask)
{
    get_function *get_mask = SC_NEXT(get_function *, "pthread_attr_getsigmask_np");
    sigset_t set;
    if (!attributes || !get_mask || get_mask(attributes, &set) != 0)
        return false;
    *mask = sc_kernel_mask_of(&set);
    return true;
}

/* Copies the size of the guard area and the place and size of the stack, if the program has set
 * them. */
static void copy_stack(pthread_attr_t *copy, const pthread_attr_t *attributes)
{
    void *stack;
    size_t bytes;
    if (pthread_attr_getguardsize(attributes, &bytes) == 0)
        pthread_attr_setguardsize(copy, bytes);
    if (pthread_attr_getstack(attributes, &stack, &bytes) != 0)
        return;
    /* Attributes without a stack: glibc reports one that ends at NULL. */
    if ((uintptr_t)stack + bytes != 0)
        pthread_attr_setstack(copy, stack, bytes);
    else if (bytes != 0)
        pthread_attr_setstacksize(copy, bytes);
}

/* Copies what the program has set of a thread's scheduling: policy, priority and processors. */
static void copy_scheduling(pthread_attr_t *copy, const pthread_attr_t *attributes)
{
    struct sched_param priority;
    cpu_set_t processors;
    int value;
    if (pthread_attr_getschedpolicy(attributes, &value) == 0)
        pthread_attr_setschedpolicy(copy, value);
    if (pthread_attr_getschedparam(attributes, &priority) == 0)
        pthread_attr_setschedparam(copy, &priority);
    if (pthread_attr_getinheritsched(attributes, &value) == 0)
        pthread_attr_setinheritsched(copy, value);
    /* All processors: the attributes set none. */
    if (pthread_attr_getaffinity_np(attributes, sizeof processors, &processors) == 0 &&
        CPU_COUNT(&processors) < CPU_SETSIZE)
        pthread_attr_setaffinity_np(copy, sizeof processors, &processors);
}

/* Copies all attributes that can be read, so that the library can add a signal mask for the new
 * thread without changing the program's attributes. NULL, as in pthread_create, stands for the
 * defaults. */
void sc_masked_threads_copy(pthread_attr_t *copy, const pthread_attr_t *attributes)
{
    int detached;
    pthread_attr_init(copy);
    if (!attributes)
        return;
    if (pthread_attr_getdetachstate(attributes, &detached) == 0)
        pthread_attr_setdetachstate(copy, detached);
    copy_stack(copy, attributes);
    copy_scheduling(copy, attributes);
}
