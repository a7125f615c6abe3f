#include "interpose/signals/sharing.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "interpose/base/loader.h"

#include "common/poison.h"

extern int __sigsuspend(const sigset_t *mask);

_Atomic uint8_t sc_sharing_now;

static bool is_wanted;      /* whether anything may ever be shared */
static _Atomic pid_t owner; /* the process whose signals are recorded; another id: a vfork child */

/* Can the library share signals with the program: do the program's calls reach the library's hooks?
 * They do not if it was not preloaded. Checked by a hook that no program defines itself. */
bool sc_sharing_is_possible(void)
{
    return sc_loader_symbol(RTLD_DEFAULT, "__sigsuspend") == (void *)__sigsuspend;
}

/* Called at the start of the process. `wanted` false (mode=off, a setuid program): hooks pass each
 * call on for ever. */
void sc_sharing_start(bool wanted)
{
    is_wanted = wanted;
    atomic_store(&owner, getpid());
}

/* May signals ever be shared in this process (no mode=off, no setuid program)? */
bool sc_sharing_is_wanted(void)
{
    return is_wanted;
}

/* Raises how much of the program's signals goes through the library to `much`; never lowers it.
 * Sets the owner (for sc_sharing_is_vfork_child), too: a constructor of the program may use CUDA
 * before the library's has run. */
void sc_sharing_grow(enum sc_sharing much)
{
    atomic_store(&owner, getpid());
    uint8_t now = atomic_load(&sc_sharing_now);
    while (now < much && !atomic_compare_exchange_weak(&sc_sharing_now, &now, (uint8_t)much))
        continue;
}

/* Records that this process, a forked child, has signals of its own from now on. */
void sc_sharing_child(void)
{
    atomic_store(&owner, getpid());
}

/* Does this thread run in a child that shares its parent's memory (vfork)? Its id is not the one of
 * the process whose signals are recorded here. */
bool sc_sharing_is_vfork_child(void)
{
    return getpid() != atomic_load(&owner);
}
