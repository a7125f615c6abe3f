#include "interpose/signals/sharing.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "interpose/base/loader.h"

#include "common/poison.h"

extern int __sigsuspend(const sigset_t *mask);

_Atomic uint8_t sc_sharing_now;

static bool is_wanted;
static _Atomic pid_t owner;

/* Does the program reach the library's hooks? Checked by a function that no program defines itself.
 */
bool sc_sharing_is_possible(void)
{
    return sc_loader_symbol(RTLD_DEFAULT, "__sigsuspend") == (void *)__sigsuspend;
}

void sc_sharing_start(bool wanted)
{
    is_wanted = wanted;
    atomic_store(&owner, getpid());
}

bool sc_sharing_is_wanted(void)
{
    return is_wanted;
}

/* Raises what is shared to `much`. Sets the owner, too: a constructor may use CUDA before the
 * library's has run. */
void sc_sharing_grow(enum sc_sharing much)
{
    atomic_store(&owner, getpid());
    uint8_t now = atomic_load(&sc_sharing_now);
    while (now < much && !atomic_compare_exchange_weak(&sc_sharing_now, &now, (uint8_t)much))
        continue;
}

void sc_sharing_child(void)
{
    atomic_store(&owner, getpid());
}

bool sc_sharing_is_vfork_child(void)
{
    return getpid() != atomic_load(&owner);
}
